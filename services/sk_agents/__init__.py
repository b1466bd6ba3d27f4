"""The executor: starts, feeds and stops agents through their holders, and states what it saw.

Pure modules: frames, ladder, framing, gathering, credit, ledger, filling, flood, views.
The holder: shim, holding, holder, offspring, spool, with frames and ladder; standard library only.
Shells of sk-agents: service, life, process, environment, logbook, memory, publishing, received.
"""
