"""The gateway: the page, its WebSocket, and the edge where what comes from outside is checked."""
