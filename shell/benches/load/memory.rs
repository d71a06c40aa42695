//! How much memory the three processes of the program hold while nothing happens.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::Size;
use super::figures::met;
use super::stand::directory;

/// The goal, kilobytes.
const GOAL: u64 = 20 * 1_024;

pub fn run(size: Size) {
    let dir = directory();
    let home = Home::new(dir.path());
    let up = home.start(&["up"]);
    home.until_it_answers(home.plane);
    home.furnish();
    let wake = home.start(&["wake"]);
    home.until_it_answers(home.wake);
    let station = home.start(&["station", "lotse"]);
    home.until_it_answers(home.station);
    if size == Size::Whole {
        std::thread::sleep(Duration::from_secs(5));
    }
    for (name, process) in [("up", &up), ("wake", &wake), ("station", &station)] {
        let (now, most) = (process.held("VmRSS:"), process.held("VmHWM:"));
        assert!(now > 0, "{name} holds nothing");
        if size == Size::Whole {
            println!(
                "{name}: {now} kB resident, at most {most} kB, goal less than {GOAL}: {}",
                met(now < GOAL)
            );
        }
    }
}

/// A state directory and the addresses of its processes.
struct Home<'a> {
    dir: &'a Path,
    plane: u16,
    wake: u16,
    station: u16,
}

/// A process that ends with its value.
struct Process(Child);

impl<'a> Home<'a> {
    fn new(dir: &'a Path) -> Self {
        let [plane, wake, station] = [(); 3]
            .map(|()| TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).unwrap().port());
        let home = Self { dir, plane, wake, station };
        let key = home.operator();
        home.ok(&["init", "--trial", "--plane", "harbour", "--operator-key", &key]);
        let config = home.state() + "/awakener.toml";
        let text = std::fs::read_to_string(&config).unwrap();
        std::fs::write(
            &config,
            format!(
                "{text}\n[models.fake]\nwindow = 8000\nbudget = 2000\n\n[stations.lotse]\n\
                 listen = \"127.0.0.1:{station}\"\nplane = \"http://127.0.0.1:{plane}\"\n"
            ),
        )
        .unwrap();
        let agents = format!(
            "\n[agents.lotse]\nruntime = \"fake\"\nendpoint = \"http://127.0.0.1:{station}/message\"\n\
             headless = true\ntier0_ack = true\n"
        );
        let manifest = home.state() + "/agents.toml";
        let text = std::fs::read_to_string(&manifest).unwrap_or_default();
        std::fs::write(&manifest, text + &agents).unwrap();
        home
    }

    fn state(&self) -> String {
        self.dir.join("state").display().to_string()
    }

    fn operator(&self) -> String {
        self.dir.join("away/operator.key").display().to_string()
    }

    /// What an operator says before a station may work.
    fn furnish(&self) {
        let key = self.state() + "/keys/ack-lotse.key";
        self.ok(&["target", "add", "lotse"]);
        self.ok(&["principal", "add", "lotse", "--acts-for", "lotse", "--may-read", "lotse"]);
        self.ok(&["keys", "new", &key]);
        self.ok(&["keys", "add-ack", "lotse", "--by-role", "station", "--key-file", &key]);
        self.ok(&["arm", "lotse", "--for", "1h"]);
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_awakener"));
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("AWAKENER_")) {
            command.env_remove(name);
        }
        command.args(args).arg("--state").arg(self.state());
        if args[0] != "init" {
            command.env("AWAKENER_OPERATOR_KEY", self.operator());
            for setting in [
                format!("http.listen=127.0.0.1:{}", self.plane),
                format!("wake.listen=127.0.0.1:{}", self.wake),
                format!("wake.plane=http://127.0.0.1:{}", self.plane),
                format!("wake.enabled={}", args[0] != "up"),
            ] {
                command.args(["--set", &setting]);
            }
        }
        command.stdin(Stdio::null());
        command
    }

    fn ok(&self, args: &[&str]) {
        let done = self.command(args).output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn start(&self, args: &[&str]) -> Process {
        let log = std::fs::File::create(self.dir.join(format!("{}.log", args[0]))).unwrap();
        Process(self.command(args).stdout(Stdio::null()).stderr(log).spawn().unwrap())
    }

    fn until_it_answers(&self, port: u16) {
        let end = Instant::now() + Duration::from_secs(60);
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            let said = || {
                let logs = ["up", "wake", "station"].map(|name| self.dir.join(format!("{name}.log")));
                logs.map(|log| std::fs::read_to_string(log).unwrap_or_default()).concat()
            };
            assert!(Instant::now() < end, "nothing listens on {port}: {}", said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Process {
    /// A line of what the system says of its memory, kilobytes.
    fn held(&self, line: &str) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap_or_default();
        let found = text.lines().find_map(|text| text.strip_prefix(line));
        found.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
