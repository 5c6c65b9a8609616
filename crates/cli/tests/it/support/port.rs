//! A port that stays a test's own.

use tokio::net::TcpSocket;

/// A port of this machine on which only those listen whom the test tells of it. While nobody does, whoever connects is turned away;
/// and when a listener has gone, nobody else is given the port before the next one comes.
pub(crate) struct Port(TcpSocket);

impl Port {
    pub(crate) fn reserve() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        // Bound and not listening, it is in nobody's way who says the same; listeners do.
        socket.set_reuseaddr(true).unwrap();
        socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
        Self(socket)
    }

    pub(crate) fn address(&self) -> String {
        self.0.local_addr().unwrap().to_string()
    }
}
