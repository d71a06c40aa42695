//! Running the program as it ships under strace, and what it wrote of it.
//!
//! The tracer is a grandchild, so that the child is the program itself: its pid, its exit code, its death. Not here: how
//! the log is read.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Everything that changes a file, a name or a descriptor, makes something durable, or talks on a socket. The last line
/// is what the model does not know: [`super::events`] ends the test if the program uses any of it on a file of ours.
const CALLS: &str = "trace=open,openat,openat2,creat,close,dup,dup2,dup3,fcntl,lseek,\
    write,pwrite64,writev,pwritev,ftruncate,fallocate,fsync,fdatasync,\
    rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,\
    accept,accept4,sendto,sendmsg,recvfrom,exit_group,\
    mmap,pwritev2,truncate,copy_file_range,sendfile,splice,link,linkat,symlink,symlinkat,rmdir,io_uring_setup,\
    sync_file_range,recvmsg";

/// From so many writes of one thread on the disk of a database is full.
pub const DISK_FULL: &[&str] = &["-e", "inject=pwrite64:error=ENOSPC:when=500+"];

/// The same command under a tracer that writes to `log`, and does more if it is told to.
pub fn traced(strace: &Path, command: &Command, log: &Path, more: &[&str]) -> Command {
    let mut traced = Command::new(strace);
    traced.args(more);
    traced.args(["-f", "-D", "--seccomp-bpf", "-xx", "-s", "100000000", "-e", CALLS, "-e"]);
    // The exit of the whole is written all the same.
    traced.arg("signal=none").args(["--quiet=attach,personality", "-o"]).arg(log);
    traced.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => traced.env(name, value),
            None => traced.env_remove(name),
        };
    }
    traced
}

/// The log of a process that has ended, once nothing more is written to it. The tracer writes line by line, but says
/// nothing at the end of a process that was killed.
pub fn written(log: &Path) -> String {
    let end = Instant::now() + Duration::from_secs(60);
    let (mut length, mut since) = (0, Instant::now());
    loop {
        let now = fs::metadata(log).unwrap().len();
        if now != length {
            (length, since) = (now, Instant::now());
        } else if since.elapsed() > Duration::from_millis(500) {
            let text = fs::read_to_string(log).unwrap();
            assert!(text.ends_with('\n'), "half a line at the end of {}", log.display());
            return text;
        }
        assert!(Instant::now() < end, "the tracer does not come to its end");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What lies in a directory before the recording; taken to be durable.
pub fn snapshot(root: &Path, skip: impl Fn(&Path) -> bool + Copy) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.push((path.clone(), None));
            found.extend(snapshot(&path, skip));
        } else if !skip(&path) {
            found.push((path.clone(), Some(fs::read(&path).unwrap())));
        }
    }
    found
}
