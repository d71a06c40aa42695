//! What strace wrote, as calls: name, arguments, result, and when each began and ended relative to all others.
//!
//! Only what the options of [`super::record`] make it write: every string in hexadecimal and whole. A line that cannot
//! be read ends the test, because a call that is overlooked would make the judge too kind. Not here: what a call means.

use std::collections::HashMap;

/// One finished call.
#[derive(Debug)]
pub struct Call {
    pub name: String,
    /// As written, apart at the commas.
    pub args: Vec<String>,
    /// Negative for a failed one.
    pub result: i64,
}

/// A point of the log.
#[derive(Debug, Clone, Copy)]
pub enum Point {
    /// The call of this number was entered.
    Begin(usize),
    /// It returned.
    End(usize),
    /// The process ended: exit code, or none when it was killed.
    Exit(Option<i32>),
}

/// All calls of one process with its threads, and the order of their beginnings and ends.
#[derive(Debug, Default)]
pub struct Trace {
    pub calls: Vec<Call>,
    pub points: Vec<Point>,
}

impl Trace {
    /// Reads a whole log.
    pub fn parse(log: &str) -> Self {
        let mut trace = Self::default();
        let mut open: HashMap<&str, (usize, String)> = HashMap::new();
        let main = log.split_whitespace().next().unwrap_or_default();
        for line in log.lines() {
            let (pid, rest) = line.split_once(' ').unwrap_or_else(|| panic!("no pid: {line}"));
            let rest = rest.trim_start();
            if let Some(end) = rest.strip_prefix("+++ ") {
                let code = end.strip_prefix("exited with ").and_then(|text| text.split(' ').next());
                if pid == main {
                    trace.points.push(Point::Exit(code.map(|code| code.parse().unwrap())));
                }
            } else if rest.starts_with("---") {
                // A signal: what it does to the process shows in what follows.
            } else if let Some(begun) = rest.strip_suffix(" <unfinished ...>") {
                trace.points.push(Point::Begin(trace.calls.len()));
                open.insert(pid, (trace.calls.len(), begun.to_owned()));
                // Its place; a call that never returns keeps it as one that did nothing.
                trace.calls.push(Call { name: String::new(), args: Vec::new(), result: -1 });
            } else if let Some(resumed) = rest.strip_prefix("<... ") {
                let (_, tail) = resumed.split_once(" resumed>").unwrap_or_else(|| panic!("{line}"));
                let (number, begun) = open.remove(pid).unwrap_or_else(|| panic!("never begun: {line}"));
                trace.calls[number] = Call::parse(&(begun + tail));
                trace.points.push(Point::End(number));
            } else {
                let number = trace.calls.len();
                trace.calls.push(Call::parse(rest));
                trace.points.extend([Point::Begin(number), Point::End(number)]);
            }
        }
        trace
    }
}

impl Call {
    fn parse(text: &str) -> Self {
        let odd = || format!("not a call: {text:.200}");
        let (name, rest) = text.split_once('(').unwrap_or_else(|| panic!("{}", odd()));
        // What follows the result, such as the name of an error, never holds this.
        let (args, result) = rest.rsplit_once(" = ").unwrap_or_else(|| panic!("{}", odd()));
        let args = args.trim_end().strip_suffix(')').unwrap_or_else(|| panic!("{}", odd()));
        let result = match result.split(' ').next().unwrap_or_default() {
            "?" => -1,
            address if address.starts_with("0x") => 0,
            number => number.parse().unwrap_or_else(|_| panic!("{}", odd())),
        };
        Self { name: name.to_owned(), args: apart(args), result }
    }

    /// An argument that is a number.
    pub fn number(&self, at: usize) -> i64 {
        let text = self.args.get(at).unwrap_or_else(|| panic!("{self:?}"));
        text.parse().unwrap_or_else(|_| panic!("{text} in {}", self.name))
    }

    /// The bytes of an argument: of a string, or of all buffers of a list one after the other.
    pub fn bytes(&self, at: usize) -> Vec<u8> {
        let text = self.args.get(at).unwrap_or_else(|| panic!("{self:?}"));
        assert!(!text.contains("..."), "a cut string in {}", self.name);
        text.split('"').skip(1).step_by(2).flat_map(unhex).collect()
    }

    /// An argument that is a path.
    pub fn path(&self, at: usize) -> std::path::PathBuf {
        String::from_utf8(self.bytes(at)).unwrap().into()
    }
}

/// Splits at the commas outside of brackets; hexadecimal strings hold neither.
fn apart(args: &str) -> Vec<String> {
    let (mut depth, mut from, mut parts) = (0, 0, Vec::new());
    for (at, byte) in args.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(args[from..at].trim().to_owned());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(args[from..].trim().to_owned());
    parts
}

fn unhex(text: &str) -> Vec<u8> {
    let digit =
        |byte: u8| char::from(byte).to_digit(16).unwrap_or_else(|| panic!("not hexadecimal: {text:.80}"));
    text.as_bytes()
        .chunks(4)
        .map(|quad| match quad {
            [b'\\', b'x', high, low] => u8::try_from(digit(*high) * 16 + digit(*low)).unwrap(),
            _ => panic!("not hexadecimal: {text:.80}"),
        })
        .collect()
}

#[test]
fn calls_that_overlap_keep_their_beginnings_and_ends() {
    let log = r#"7 openat(AT_FDCWD, "\x2f\x61", O_RDWR|O_CREAT, 0600) = 3
7 fsync(3 <unfinished ...>
8 writev(4, [{iov_base="\x41", iov_len=1}, {iov_base="\x42\x43", iov_len=2}], 2) = 3
7 <... fsync resumed>)              = 0
8 unlink("\x2f\x62") = -1 ENOENT (No such file or directory)
7 +++ exited with 90 +++"#;
    let trace = Trace::parse(log);
    let order: Vec<String> = trace.points.iter().map(|point| format!("{point:?}")).collect();
    let expected = "Begin(0) End(0) Begin(1) Begin(2) End(2) End(1) Begin(3) End(3) Exit(Some(90))";
    assert_eq!(order.join(" "), expected);
    assert_eq!(trace.calls[0].path(1), std::path::Path::new("/a"));
    assert_eq!((trace.calls[1].name.as_str(), trace.calls[1].number(0)), ("fsync", 3));
    assert_eq!((trace.calls[2].bytes(1), trace.calls[2].result), (b"ABC".to_vec(), 3));
    assert_eq!(trace.calls[3].result, -1);
}
