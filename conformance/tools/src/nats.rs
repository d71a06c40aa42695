//! A real NATS server, as a child process on a port of its own: started, stopped and killed by its test.
//!
//! Loopback only. The port stays the same over restarts, so that clients can come back. Not here: what is expected of
//! a broker.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::python::Environment;
use crate::run::failed;
use crate::{Tool, ToolError};

const TOOL: &str = "nats";
const NATS: Environment = Environment { tool: TOOL, requirements: include_str!("../nats-requirements.txt") };

/// How long a server may take until it accepts connections.
const PATIENCE: Duration = Duration::from_secs(20);

/// The program `nats-server`, fetched if it is not there.
///
/// # Errors
/// When it cannot be installed as pinned.
pub fn program() -> Result<Tool, ToolError> {
    NATS.program("nats-server")
}

/// A server that can be started and killed as often as a test likes; dropping it kills it.
#[derive(Debug)]
pub struct Server {
    program: PathBuf,
    directory: PathBuf,
    port: u16,
    more: Vec<String>,
    child: Option<Child>,
}

impl Server {
    /// Chooses a free port; nothing runs yet. Its log is written into the directory.
    ///
    /// # Errors
    /// There is no free port.
    pub fn new(program: &Path, directory: &Path) -> Result<Self, ToolError> {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
        let port = free.map_err(|cause| failed(TOOL, "find a free port", directory, &cause))?.port();
        let (program, directory) = (program.to_owned(), directory.to_owned());
        Ok(Self { program, directory, port, more: Vec::new(), child: None })
    }

    /// What it is told besides, from its next start on.
    pub fn tell(&mut self, arguments: &[&str]) {
        self.more = arguments.iter().map(|&argument| argument.to_owned()).collect();
    }

    /// Where it listens.
    pub const fn addr(&self) -> SocketAddr {
        SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), self.port)
    }

    /// The same for clients.
    pub fn url(&self) -> String {
        format!("nats://{}", self.addr())
    }

    /// The pid of the running server.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Starts it and waits until it accepts connections. Nothing happens if it runs.
    ///
    /// # Errors
    /// It does not start, or ends, or does not listen in time; with the end of its log.
    pub fn start(&mut self) -> Result<(), ToolError> {
        if self.child.is_some() {
            return Ok(());
        }
        let log = self.directory.join("nats-server.log");
        let child = Command::new(&self.program)
            .args(["--addr", "127.0.0.1", "--port", &self.port.to_string(), "--log"])
            .arg(&log)
            .args(&self.more)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|cause| failed(TOOL, "start", &self.program, &cause))?;
        let child = self.child.insert(child);
        let began = Instant::now();
        loop {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok() {
                return Ok(());
            }
            let ended = child.try_wait().map_err(|cause| failed(TOOL, "watch", &log, &cause))?;
            if ended.is_some() || began.elapsed() > PATIENCE {
                self.kill();
                let log_text = std::fs::read_to_string(&log).unwrap_or_default();
                return Err(failed(TOOL, "get it to listen", &log, &log_text));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Kills it without any farewell. Nothing happens if it does not run.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // The only failure is that it has ended already.
            let _: io::Result<()> = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_started_killed_and_started_again_in_its_place() {
        let Tool::Ready(program) = program().unwrap() else { return };
        let directory = crate::workspace().join("target/tools");
        let mut server = Server::new(&program, &directory).unwrap();
        let refused = |server: &Server| TcpStream::connect(server.addr()).is_err();
        assert!(refused(&server));
        for _ in 0..2 {
            server.start().unwrap();
            assert!(!refused(&server));
            server.kill();
            assert!(refused(&server));
        }
    }

    #[test]
    fn what_is_no_server_is_said_to_be_none() {
        let mut server = Server::new(Path::new("/bin/true"), Path::new("/nonexistent")).unwrap();
        let error = server.start().unwrap_err().to_string();
        assert!(error.contains("get it to listen") && error.contains("AWAKENER_WITHOUT=nats"), "{error}");
    }
}
