//! A reserved port.

use tokio::net::TcpSocket;

/// A local port that no other process gets. Connections are refused while the test has no listener on it.
pub(crate) struct Port(TcpSocket);

impl Port {
    pub(crate) fn reserve() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        // Listeners set this option too, so they can bind the same port while this socket does not listen.
        socket.set_reuseaddr(true).unwrap();
        socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
        Self(socket)
    }

    pub(crate) fn address(&self) -> String {
        self.0.local_addr().unwrap().to_string()
    }
}
