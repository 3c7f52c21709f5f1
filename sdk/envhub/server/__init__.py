"""The host: sessions of environments over HTTP, WebSocket and MCP."""
