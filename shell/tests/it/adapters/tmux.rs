//! Real tmux: each test has a server of its own, on a socket of its own, and ends that one alone.
//!
//! The agents are scripts: one that reads lines from its terminal as a shell does, and one that draws its own input line as
//! the agents of vendors do. What they show and do is chosen by a word; what reaches them goes into a file.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use awakener::spawn::Environment;
use awakener::wake::{Means, Order, RuntimeAdapter, Touch};
use awakener_kernel::values::DispatchOutcome as Is;
use awakener_tools::{Tool, enforces_process};

use super::suite::{Report, Runtime, World, judge, order};
use super::{chosen, private};
use crate::wake::rig::run;

const LONG: Duration = Duration::from_secs(30);

/// Reads lines in the mode of its terminal, which echoes them.
const LINES: &str = r#"
cd "$1"
case $2 in
  ready) printf 'lotse> '; while IFS= read -r line; do printf '%s\n' "$line" >> heard; printf 'esc to interrupt\n'; sleep 0.3; printf '\033[2J\033[Hlotse> '; done ;;
  working) printf 'lotse> go\nesc to interrupt\n'; sleep 1000 ;;
  changed) printf 'lotse> go\nctrl-c stops it\n'; cat >> heard ;;
  dialog) printf 'Do you want to proceed?\n 1. Yes\n 2. No\nlotse> '; cat >> heard ;;
  mute) stty -echo -icanon; printf 'lotse> '; cat >> heard ;;
esac
"#;

/// Draws its own input line, a character after another.
const DRAWS: &str = r#"
cd "$1"; swallow=${3:-0}; n=0; text=
draw() { printf '\033[2J\033[H%s\r\n' "$shown"; printf '\342\224\202 lotse> %s' "$text"; }
draw
while IFS= read -rsn1 c; do
  if [ -z "$c" ]; then
    n=$((n+1)); printf 'enter\n' >> keys
    if [ "$2" = slow ]; then sleep 0.4; fi
    if [ $n -gt "$swallow" ]; then printf '%s\n' "$text" >> heard; text=; shown=answered; fi
    if [ "$2" = asks ]; then shown='Do you want to proceed?'; fi
  else text="$text$c"; fi
  draw
done
"#;

fn touch() -> Touch {
    Touch {
        look: Duration::from_millis(30),
        // Longer than the order that the suite gives in the world `Late`: there the second look always comes too late.
        settle: Duration::from_millis(120),
        echo: Duration::from_millis(1_500),
        enter: [Duration::from_millis(700), Duration::from_millis(800), Duration::from_millis(900)],
        quiet: Duration::from_millis(400),
    }
}

/// A server of tmux; ended with its handle.
struct Server {
    folder: tempfile::TempDir,
}

impl Server {
    /// `None` if the user chose to do without tmux.
    fn start() -> Option<Self> {
        let Tool::Ready(_) = awakener_tools::tmux::program().unwrap_or_else(|error| panic!("{error}")) else {
            return None;
        };
        let folder = private();
        for (name, text) in [("lines.sh", LINES), ("draws.sh", DRAWS)] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        Some(Self { folder })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn socket(&self) -> String {
        self.path("socket").display().to_string()
    }

    fn output(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.args(["-u", "-S", &self.socket()]).args(arguments).stdin(Stdio::null());
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    }

    fn try_tmux(&self, arguments: &[&str]) -> bool {
        let mut command = Command::new("tmux");
        command.args(["-u", "-f", "/dev/null", "-S", &self.socket()]).args(arguments);
        // Not from within the tmux of whoever runs the tests.
        command.env_remove("TMUX").env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
        command.output().unwrap().status.success()
    }

    fn tmux(&self, arguments: &[&str]) {
        assert!(self.try_tmux(arguments), "tmux {arguments:?}");
    }

    /// Ends what is there, and starts a session whose one pane runs this.
    fn session(&self, command: &str) {
        self.try_tmux(&["kill-server"]);
        for name in ["heard", "keys"] {
            std::fs::write(self.path(name), "").unwrap();
        }
        // The old server may still be about to take its socket away.
        let end = Instant::now() + Duration::from_secs(10);
        while !self.try_tmux(&["new-session", "-d", "-s", "lotse", "-x", "70", "-y", "20", command]) {
            assert!(Instant::now() < end, "no session");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// An agent that reads lines.
    fn lines(&self, word: &str) {
        self.agent(&format!("lines.sh '{}' {word}", self.folder.path().display()));
    }

    /// An agent that draws.
    fn draws(&self, words: &str) {
        self.agent(&format!("draws.sh '{}' {words}", self.folder.path().display()));
    }

    fn agent(&self, script: &str) {
        self.session(&format!(
            "exec bash -c 'exec -a lotse bash {}/{}'",
            self.folder.path().display(),
            script.replace('\'', "")
        ));
        self.shows(|screen| screen.contains("lotse>"));
    }

    fn screen(&self) -> String {
        self.capture(&[])
    }

    fn capture(&self, more: &[&str]) -> String {
        self.output(&[&["capture-pane", "-p", "-t", "=lotse:"], more].concat())
    }

    fn shows(&self, wanted: impl Fn(&str) -> bool) {
        let end = Instant::now() + Duration::from_secs(10);
        while !wanted(&self.screen()) {
            assert!(Instant::now() < end, "not shown: {}", self.screen());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn read(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn adapter(&self, more: &str) -> Arc<dyn RuntimeAdapter> {
        self.adapter_in(Environment::default(), more)
    }

    fn adapter_in(&self, environment: Environment, more: &str) -> Arc<dyn RuntimeAdapter> {
        let lines = format!(
            "runtime = \"tmux\"\nsession = \"lotse\"\ncommand = \"lotse\"\nprompt = \"lotse> \"\n\
             busy = [\"esc to interrupt\"]\ndialog = [\"Do you want to proceed?\"]\nsocket = \"{}\"\n{more}",
            self.socket()
        );
        chosen(self.folder.path(), &lines, &Means { touch: touch(), environment, ..Means::default() })
    }

    /// Another program under the name of tmux, which does this with what it is asked.
    fn in_place_of_tmux(&self, script: &str) -> Environment {
        let file = self.path("tmux");
        std::fs::write(
            &file,
            format!("#!/bin/sh\n{script}\nPATH=/usr/local/bin:/usr/bin:/bin exec tmux \"$@\"\n"),
        )
        .unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        Environment::default()
            .set("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", self.folder.path().display()))
    }

    async fn tell(&self, attempt: u64) -> Is {
        self.adapter("").dispatch(&order(attempt, LONG, false)).await
    }

    /// Nothing is typed: neither screen nor agent has changed.
    async fn untouched(&self, outcome: Is) {
        let before = self.screen();
        assert_eq!(self.tell(1).await, outcome, "{before}");
        assert_eq!((self.screen(), self.read("heard"), self.read("keys")), (before, vec![], vec![]));
    }

    /// The control: here the same adapter is heard.
    async fn heard_at_last(&self) {
        assert_eq!(self.tell(2).await, Is::NotifiedVerified, "{}", self.screen());
        assert_eq!(self.read("heard"), [order(2, LONG, false).text()]);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.try_tmux(&["kill-server"]);
    }
}

impl Runtime for Server {
    fn adapter(&self) -> Arc<dyn RuntimeAdapter> {
        self.adapter("")
    }

    async fn enter(&self, world: World) -> bool {
        match world {
            World::Ready => self.lines("ready"),
            World::Working => self.lines("working"),
            World::Down => {
                self.session("exec sleep 1000");
            }
            World::Mute => self.lines("mute"),
            World::Garbage => self.lines("changed"),
            // Two looks lie between the decision and the first key.
            World::Late => self.lines("ready"),
            // What is typed is taken, and a screen is as large as it is.
            World::Refusing | World::Cut | World::Huge | World::Slow => return false,
        }
        true
    }

    /// What the agent has read; until then, what stands at its prompt for a person to submit.
    async fn heard(&self) -> Vec<String> {
        let read = self.read("heard");
        let screen = self.capture(&["-J"]);
        let typed = screen.lines().rev().find_map(|line| line.trim_end().strip_prefix("lotse> "));
        match typed {
            Some(typed) if read.is_empty() && typed.starts_with("awakener") => vec![typed.to_owned()],
            _ => read,
        }
    }

    fn template(&self, order: &Order) -> String {
        order.text()
    }
}

enforces_process! {
    [Cap3, Dsp4, Dsp6, Dsp9, Spw1]
    fn cap_3_tmux_passes_the_suite_in_the_worlds_that_it_has(_seen) {
        let Some(server) = Server::start() else { return };
        run(async {
            let Report { broken, absent } = judge(&server).await;
            assert!(broken.is_empty(), "{broken:#?}");
            assert_eq!(absent.into_iter().collect::<Vec<_>>(), [World::Refusing, World::Cut, World::Huge, World::Slow]);
        });
    }

    [Dsp9, Dsp4]
    fn dsp_9_nothing_is_typed_unless_the_prompt_of_the_agent_is_empty_and_idle(_seen) {
        let Some(server) = Server::start() else { return };
        run(async {
            server.lines("working");
            server.shows(|screen| screen.contains("esc to interrupt"));
            server.untouched(Is::RefusedBusy).await;
            // A version of the agent that says it in other words: neither idle nor busy.
            server.lines("changed");
            server.shows(|screen| screen.contains("ctrl-c"));
            server.untouched(Is::NotAttempted).await;
            server.lines("dialog");
            server.untouched(Is::NotAttempted).await;
            server.draws("quick");
            server.tmux(&["copy-mode", "-t", "=lotse:"]);
            server.untouched(Is::NotAttempted).await;
            server.tmux(&["send-keys", "-t", "=lotse:", "-X", "cancel"]);
            server.tmux(&["send-keys", "-t", "=lotse:", "-l", "merge only after"]);
            server.shows(|screen| screen.contains("only after"));
            server.untouched(Is::NotAttempted).await;
            server.draws("quick");
            server.heard_at_last().await;
        });
    }

    [Dsp9, Dsp3]
    fn dsp_9_a_pane_is_the_agents_by_session_place_and_process(_seen) {
        let Some(server) = Server::start() else { return };
        run(async {
            // The agent has ended, and a shell has its pane and its pane id.
            server.session("PS1='shell$ ' exec bash --norc");
            server.shows(|screen| screen.contains("shell$"));
            server.untouched(Is::Unavailable).await;
            server.try_tmux(&["kill-server"]);
            assert_eq!(server.tell(1).await, Is::Unavailable);
            // Another session whose name begins alike is another session.
            server.draws("quick");
            server.tmux(&["rename-session", "-t", "=lotse", "lotse-2"]);
            assert_eq!(server.tell(1).await, Is::Unavailable);
            server.tmux(&["rename-session", "-t", "=lotse-2", "lotse"]);
            // Twice the same: only the manifest can say which.
            let again = format!("exec bash -c 'exec -a lotse bash {0}/draws.sh {0} quick'", server.folder.path().display());
            server.tmux(&["split-window", "-d", "-t", "=lotse:", &again]);
            // Until it is the agent, the pane runs the shell that starts it.
            let second = ["list-panes", "-t", "=lotse:", "-f", "#{&&:#{==:#{pane_index},1},#{==:#{pane_current_command},lotse}}"];
            let end = Instant::now() + Duration::from_secs(10);
            while server.output(&second).is_empty() {
                assert!(Instant::now() < end, "no second agent");
                std::thread::sleep(Duration::from_millis(10));
            }
            server.untouched(Is::NotAttempted).await;
            let (first, nowhere) = (server.adapter("pane = \"0.0\""), server.adapter("pane = \"7.7\""));
            assert_eq!(nowhere.dispatch(&order(1, LONG, false)).await, Is::Unavailable);
            assert_eq!(first.dispatch(&order(2, LONG, false)).await, Is::NotifiedVerified);
            assert_eq!(server.read("heard"), [order(2, LONG, false).text()]);
        });
    }

    [Dsp9, Dsp4]
    fn dsp_9_enter_is_repeated_while_the_text_stands_and_nothing_else_is(_seen) {
        let Some(server) = Server::start() else { return };
        run(async {
            for (words, enters) in [("quick 0", 1), ("slow 0", 1), ("quick 1", 2), ("quick 2", 3)] {
                server.draws(words);
                server.heard_at_last().await;
                assert_eq!(server.read("keys").len(), enters, "{words}");
            }
            // It never takes it: the text stays as a draft, and the next wake leaves it alone.
            server.draws("quick 99");
            assert_eq!(server.tell(1).await, Is::TypedUnverified);
            assert_eq!((server.read("keys").len(), server.read("heard").len()), (3, 0));
            assert_eq!(server.tell(2).await, Is::NotAttempted);
            assert_eq!(server.read("keys").len(), 3);
            // A question comes up behind the first Enter: no second one answers it.
            server.draws("asks 99");
            assert_eq!(server.tell(1).await, Is::TypedUnverified);
            assert_eq!(server.read("keys").len(), 1);
        });
    }

    [Dsp9, Dsp4]
    fn dsp_9_where_a_person_submits_the_text_waits_for_that_person(_seen) {
        let Some(server) = Server::start() else { return };
        run(async {
            server.draws("quick");
            let attended = order(1, LONG, true);
            assert_eq!(server.adapter("requires_human_submit = true").dispatch(&attended).await, Is::NotifiedHuman);
            assert_eq!((server.read("keys").len(), server.read("heard").len()), (0, 0));
            server.tmux(&["send-keys", "-t", "=lotse:", "Enter"]);
            server.shows(|screen| screen.contains("answered"));
            assert_eq!(server.read("heard"), [attended.text()]);
        });
    }

    [Dsp4, Dsp5, Dsp9]
    fn dsp_4_what_tmux_says_is_not_believed_without_the_screen(_seen) {
        let Some(server) = Server::start() else { return };
        run(async {
            let on_text = |answer: &str| format!("for word; do if [ \"$word\" = -l ]; then {answer}; fi; done");
            for (answer, outcome) in [
                // It refuses the flag.
                ("echo 'unknown flag -l' >&2; exit 1", Is::Unavailable),
                // It says that all is well and does nothing.
                ("exit 0", Is::TypedUnverified),
                // It never comes back.
                ("sleep 1000", Is::TypedUnverified),
            ] {
                server.draws("quick");
                let adapter = server.adapter_in(server.in_place_of_tmux(&on_text(answer)), "");
                assert_eq!(adapter.dispatch(&order(1, LONG, false)).await, outcome, "{answer}");
                assert_eq!((server.read("keys").len(), server.read("heard").len()), (0, 0), "{answer}");
            }
            server.draws("quick");
            let adapter = server.adapter_in(server.in_place_of_tmux(""), "");
            assert_eq!(adapter.dispatch(&order(2, LONG, false)).await, Is::NotifiedVerified);
            // No tmux at all.
            let none = Environment::default().set("PATH", "/nonexistent");
            assert_eq!(server.adapter_in(none, "").dispatch(&order(3, LONG, false)).await, Is::Unavailable);
        });
    }
}
