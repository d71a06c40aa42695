//! `init`: a state directory from nothing.
//!
//! It makes keys, tokens, configuration and manifest, and allows nobody anything: no roster, no grant, no target, no
//! principal (OPR-3). The public half of the first operator key is left where the plane looks when its store has no
//! operator yet; the private half is printed once, or written to a file of the operator's choice, and kept nowhere
//! else (IDN-7). A directory that has anything of ours in it is left alone. Rules: IDN-7, OPR-3, SPW-6.

use std::path::{Path, PathBuf};

use awakener_spec::{Rule, rule};
use serde_json::json;

use super::args::Init;
use super::context::Context;
use super::out::{self, Answer};
use crate::exit::{Exit, Failure};
use crate::keys::{FirstOperator, KeyError, SecretKey, Token, create_secret, private_dir};

/// `init`.
pub fn init(context: &Context, args: &Init) -> Result<Answer, Failure> {
    let state = context.state.as_path();
    refuse_second(state)?;
    private_dir(state)?;
    let operator_key = SecretKey::generate()?;
    // Before anything else: if this file cannot be written, nothing has happened yet.
    if let Some(file) = &args.operator_key {
        operator_key.create(file)?;
    }
    let mut made = Vec::new();
    for name in ["router.key", "audit.key"] {
        let file = context.key_file(name);
        SecretKey::generate()?.create(&file)?;
        made.push(file);
    }
    for name in ["observer", "daemon"] {
        let file = context.token_file(name);
        Token::generate()?.create(&file)?;
        made.push(file);
    }
    let first = FirstOperator { v: 1, operator: args.operator.clone(), key: operator_key.public() };
    made.push(first.create(state)?);
    let plane = match &args.plane {
        Some(plane) => plane.to_string(),
        None => random_name()?,
    };
    let mode = if args.trial { "trial" } else { "production" };
    made.push(write(state, "agents.toml", AGENTS)?);
    // Last, because its presence says that init came to its end.
    made.push(write(state, "awakener.toml", &CONFIG.replace("{mode}", mode).replace("{plane}", &plane))?);
    rule!(Opr3);
    Ok(answer(state, args.operator_key.as_deref(), &operator_key, &plane, &made))
}

fn answer(state: &Path, file: Option<&Path>, key: &SecretKey, plane: &str, made: &[PathBuf]) -> Answer {
    let names: Vec<String> = made.iter().map(|path| path.display().to_string()).collect();
    let secret = file.is_none().then(|| key.to_hex().to_string());
    let value = json!({
        "state": state.display().to_string(),
        "plane": plane,
        "operator_key_id": key.key_id(),
        "operator_key_file": file.map(|file| file.display().to_string()),
        "operator_key": secret,
        "files": names,
    });
    let mut text = out::fields(&json!({
        "state": state.display().to_string(),
        "plane": plane,
        "operator": key.key_id(),
    }));
    match (file, secret) {
        (Some(file), _) => {
            text += &format!("\nThe operator key is in {}; move it off this machine.\n", file.display())
        }
        (None, secret) => {
            let secret = secret.unwrap_or_default();
            text += &format!("\nThe operator key, shown this once and kept nowhere:\n{secret}\n");
        }
    }
    text += "Nobody may raise an alert and nothing is armed yet.\n";
    Answer::new(value, text)
}

/// Anything of ours in the directory means that somebody was here before.
fn refuse_second(state: &Path) -> Result<(), Failure> {
    let ours = ["awakener.toml", "agents.toml", "keys", "tokens", "plane.db"];
    match ours.iter().map(|name| state.join(name)).find(|path| path.symlink_metadata().is_ok()) {
        Some(path) => {
            rule!(Opr3);
            Err(Failure::new(Exit::Refused, "The state directory is in use; nothing was changed.")
                .by(Rule::Opr3)
                .at(path.display())
                .then("Choose another directory with --state, or move this one away."))
        }
        None => Ok(()),
    }
}

fn write(state: &Path, name: &str, text: &str) -> Result<PathBuf, KeyError> {
    let file = state.join(name);
    create_secret(&file, text.trim_end())?;
    Ok(file)
}

fn random_name() -> Result<String, Failure> {
    let bytes = chance()?;
    let digits = bytes.iter().take(4).map(|byte| format!("{byte:02x}"));
    Ok(format!("plane-{}", digits.collect::<String>()))
}

/// The random part of an id.
pub fn chance() -> Result<[u8; 10], Failure> {
    let mut bytes = [0; 10];
    getrandom::fill(&mut bytes).map_err(|error| KeyError::Chance(error.to_string()))?;
    Ok(bytes)
}

const CONFIG: &str = r#"# awakener: the configuration. `awakener config show` tells every key with its value and origin.
version = 1
mode = "{mode}"
plane = "{plane}"
manifest = "agents.toml"

[http]
listen = "127.0.0.1:7717"

[wake]
enabled = true

# Limits can be lowered from what is built in, never raised above what is compiled in.
# [limits]
# cooldown = "30s"
"#;

const AGENTS: &str = r#"# awakener: the capability manifest. One section per agent; nothing is guessed.
version = 1

# [agents.some-agent]
# runtime = "agentapi"
# endpoint = "http://127.0.0.1:9403/message"
# status_endpoint = "http://127.0.0.1:9403/status"
# headless = true
# tier0_ack = true
"#;
