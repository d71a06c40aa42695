//! The commands that keep running: what they start from, and how they end.
//!
//! Each reads configuration, keys and tokens, starts its part and waits for a signal. Nothing of the work is here.
//! Rules: CAP-2, CAP-5, IDN-7, OPR-2, PRT-3, FUS-6.

mod reload;

use std::io::{IsTerminal, Read as _};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use awakener_kernel::ids::{CommandId, ContentHash, Target};
use awakener_kernel::registry::Input as Enrolment;
use awakener_kernel::registry::image::Running;
use awakener_kernel::router::Routes;
use awakener_kernel::station::{Mapped, Model};
use awakener_spec::Reason;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::context::Context;
use super::out::Answer;
use crate::agents::{Neighbours, WakeAt};
use crate::broker::{self, Broker, HttpPush, InProcess, Login, Nats};
use crate::client::Client;
use crate::config::{self, BrokerKind, Config, Mode};
use crate::demo::{self, Scenarios};
use crate::exit::{Exit, Failure};
use crate::http;
use crate::keys::{FirstOperator, Secret, SecretKey, Token};
use crate::manifest::Manifest;
use crate::pause::Pause;
use crate::plane::{Plane, Refused, Setup};
use crate::spawn::{self, Bounds, Environment, Secrets};
use crate::station::fake::Fake;
use crate::station::local::{self, Local};
use crate::station::runner::Runner;
use crate::station::{self, StationError};
use crate::wake;

/// How many hints may wait for the broker; one more is lost, and a sweep finds its alert.
const HINTS: usize = 1_024;

/// `up`: the message plane, with a wake daemon in the same process unless `[wake] enabled = false`.
pub fn up(context: &Context) -> Result<Answer, Failure> {
    let config = context.config()?.clone();
    log();
    runtime()?.block_on(async {
        // Nothing but loopback is ever bound, not even until it is refused (PRT-3).
        let listener = http::bind(config.http.listen).await.map_err(|refused| {
            let taken = refused.reason == Reason::PortTaken;
            taken.then(|| holder(context)).flatten().unwrap_or_else(|| refused.into())
        })?;
        let (publish, hints) = tokio::sync::mpsc::channel(HINTS);
        let manifest = manifest(&config);
        let router = SecretKey::load(&context.key_file("router.key"))?;
        let audit = SecretKey::load(&context.key_file("audit.key"))?;
        let observer = Token::load(&context.token_file("observer"))?;
        let daemon = Token::load(&context.token_file("daemon"))?;
        let setup = Setup {
            state: context.state.clone(),
            limits: config.limits.clone(),
            routes: routes(&config)?,
            config_hash: config.hash(),
            enrolment: enrolment(context, &config, &router, &audit)?,
            running: Running { binary: binary()?, config: config.hash() },
            router_key: router.signing().clone(),
            audit_key: audit.signing().clone(),
            manifest_accepted: matches!(manifest, Manifest::Accepted { .. }),
            pause: pause(&config, &context.state),
            publish,
        };
        let (plane, store) = Plane::start(setup)?;
        let broker = match broker_between(&config).await? {
            Some(broker) => broker,
            None => Arc::new(InProcess::default()),
        };
        let publisher = tokio::spawn(broker::publish_all(plane.clone(), Arc::clone(&broker), hints));
        let woken = match config.wake.enabled {
            false => None,
            true => {
                let port = Arc::new(wake::Local::new(plane.clone(), config.wake.name.clone()));
                let (config, broker) = (&config, Arc::clone(&broker));
                let start = move |manifest| {
                    daemon_setup(context, config, manifest, port.clone(), Some(Arc::clone(&broker)), None)
                };
                Some(reload::Woken::start(config, manifest, start).await?)
            }
        };
        let settings = http::Settings {
            limits: config.limits.get().clone(),
            mode: config.mode.as_str().to_owned(),
            daemons: vec![(config.wake.name.clone(), daemon.hash())],
            observers: vec![observer.hash()],
        };
        let at = match &woken {
            Some(daemon) => WakeAt::Here(daemon.watch()),
            None => WakeAt::At(config.wake.listen),
        };
        let neighbours = Neighbours::of(&config, at, observer.hash());
        ready("the plane", config.http.listen, config.mode);
        let woken = async move {
            match woken {
                Some(woken) => woken.keep().await,
                None => std::future::pending().await,
            }
        };
        // The daemon ends with the plane, or the other way round.
        let served = tokio::select! {
            served = http::serve_beside(plane.clone(), settings, neighbours, listener, signal()) => {
                    served.map_err(Failure::from)
                }
            failed = woken => Err(failed),
        };
        publisher.abort();
        drop(plane);
        // The store thread ends once nobody can ask any more.
        let _ = tokio::task::spawn_blocking(move || store.join()).await;
        served?;
        Ok(Answer::new(json!({ "stopped": "up" }), ""))
    })
}

/// `wake`: a wake daemon alone.
pub fn wake(context: &Context) -> Result<Answer, Failure> {
    let config = context.config()?.clone();
    log();
    runtime()?.block_on(async {
        let token = Token::load(&context.token_file("daemon"))?;
        let client = Client::new(&config.wake.plane, token.expose())?;
        let port = Arc::new(wake::Remote::new(client));
        let manifest = manifest(&config);
        // Pushed hints come in at the listener.
        let broker = match config.broker.kind {
            BrokerKind::InProcess | BrokerKind::Http => None,
            BrokerKind::Nats => broker_between(&config).await?,
        };
        let start = |manifest| {
            let listen = Some(config.wake.listen);
            daemon_setup(context, &config, manifest, port.clone(), broker.clone(), listen)
        };
        let woken = reload::Woken::start(&config, manifest, start).await?;
        ready("the wake daemon", config.wake.listen, config.mode);
        tokio::select! {
            failed = woken.keep() => return Err(failed),
            () = signal() => {}
        }
        Ok(Answer::new(json!({ "stopped": "wake" }), ""))
    })
}

/// `station`: the hosted station of a target.
pub fn station(context: &Context, target: &Target) -> Result<Answer, Failure> {
    let config = context.config()?.clone();
    log();
    let Some(own) = config.stations.get(target) else {
        return Err(Failure::refused(Reason::ConfigMalformed)
            .saying(format!("there is no section [stations.{target}]"))
            .then("Add the section, and its model to [models]."));
    };
    runtime()?.block_on(async {
        let acting = context.acting_for(target)?;
        let token = Token::load(&context.token_file(&acting))?;
        let ack = SecretKey::load(&context.key_file(&format!("ack-{target}.key")))?;
        let observer = Token::load(&context.token_file("observer"))?;
        let mapped = config.models.get(&own.model).map(|model| Mapped {
            window: u32::try_from(model.window).unwrap_or(u32::MAX),
            budget: u32::try_from(model.budget).unwrap_or(u32::MAX),
        });
        let setup = station::Setup {
            state: context.state.clone(),
            target: target.clone(),
            mode: config.mode,
            client: Client::new(&own.plane, token.expose())?,
            limits: config.limits.clone(),
            config_hash: config.hash(),
            ack_key: Arc::new(ack.signing().clone()),
            listen: own.listen,
            observer: observer.hash(),
            model: (Model(own.model.as_str().into()), mapped),
            runner: runner(context, &config, target, own)?,
            poll_every: Duration::from_millis(own.poll.max(1)),
        };
        let serving = station::start(setup).await?;
        ready("the station", serving.listen, config.mode);
        tokio::select! {
            ended = serving.ended() => ended?,
            () = signal() => {}
        }
        Ok(Answer::new(json!({ "stopped": "station", "target": target }), ""))
    })
}

/// What plays the turns of a station.
fn runner(
    context: &Context,
    config: &Config,
    target: &Target,
    own: &config::Station,
) -> Result<Arc<dyn Runner>, Failure> {
    if own.runner == config::Runner::Fake {
        // CAP-3: the configuration has refused it in production.
        return Ok(Arc::new(Fake::new(own.script.clone(), Duration::from_millis(own.turn))));
    }
    // Every program of this process comes from the one function, so what loses its parents can be told and ended.
    if let Err(error) = spawn::adopt() {
        tracing::warn!(rule = "SPW-3", "what a runtime leaves behind may not be found: {error}");
    }
    let absolute = |path: &Path| std::path::absolute(path);
    let paths = absolute(&own.folder).and_then(|folder| Ok((folder, absolute(&context.state)?)));
    let (folder, state) = paths.map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
    let limits = config.limits.get();
    let bounds = Bounds {
        time: Duration::from_millis(own.timeout),
        grace: Duration::from_millis(limits.graceful_stop.0),
        ..Bounds::default()
    };
    let budget = config.models.get(&own.model).map_or(0, |model| model.budget);
    Ok(Arc::new(Local::new(local::Settings {
        preset: own.preset,
        argv: own.argv.clone(),
        folder,
        env: own.env.clone(),
        target: target.clone(),
        model: own.model.clone(),
        budget: u32::try_from(budget).unwrap_or(u32::MAX),
        longest: usize::try_from(limits.body_bytes).unwrap_or(usize::MAX),
        bounds,
        secrets: Arc::new(Secrets::of_state(&state)?),
        state,
    })))
}

/// The second half of `latch clear`: the plane has accepted the command, the station does not run, and its latch is
/// archived and taken away (FUS-7). The command may be given again until that has come to its end.
pub fn clear_latch(context: &Context, target: &Target, command: CommandId) -> Result<(), Failure> {
    let config = context.config()?;
    let (limits, hash) = (config.limits.clone(), config.hash());
    let cleared = station::clear(context.state.clone(), target.clone(), limits, hash, command);
    Ok(runtime()?.block_on(cleared)?)
}

/// `demo`, also what runs without any command.
pub fn demo(context: &Context, args: super::args::Demo) -> Result<Answer, Failure> {
    let failed = |what: String| Failure::new(Exit::Failed, format!("The demo cannot be shown: {what}"));
    let scenarios = Scenarios::committed().map_err(failed)?;
    let names: Vec<String> = scenarios.line.iter().map(|line| line.name.clone()).collect();
    let scenarios = scenarios.only(&args.only).map_err(|unknown| {
        Failure::usage(format!("{unknown} is no line of the demo."))
            .then(format!("The lines are: {}.", names.join(", ")))
    })?;
    let options = demo::Options { keep: args.keep, quiet: context.json(), broker: args.broker };
    let shown = runtime()?.block_on(demo::run(scenarios, options)).map_err(failed)?;
    Ok(Answer { exit: shown.exit.code(), ..Answer::new(shown.value, shown.text) })
}

/// The broker that goes from process to process; none if hints stay in this one.
async fn broker_between(config: &Config) -> Result<Option<Arc<dyn Broker>>, Failure> {
    let broker: Result<Arc<dyn Broker>, String> = match config.broker.kind {
        BrokerKind::InProcess => return Ok(None),
        BrokerKind::Http => HttpPush::to(&config.broker.push).map(|push| Arc::new(push) as _),
        BrokerKind::Nats => {
            let nats = Nats::logging_in(&config.broker.servers, login(config)?).await;
            nats.map(|nats| Arc::new(nats) as _)
        }
    };
    let refused = |what| Failure::refused(Reason::ConfigMalformed).saying(format!("in [broker]: {what}"));
    broker.map(Some).map_err(refused)
}

/// What the servers of NATS are told, from files with the mode of keys (SPW-6).
fn login(config: &Config) -> Result<Login, Failure> {
    let broker = &config.broker;
    Ok(match (&broker.token_file, &broker.user, &broker.password_file) {
        (Some(token), _, _) => Login::Token(Secret::load(token)?),
        (None, Some(user), Some(password)) => Login::User(user.clone(), Secret::load(password)?),
        (None, _, _) => Login::None,
    })
}

fn daemon_setup(
    context: &Context,
    config: &Config,
    manifest: Manifest,
    plane: Arc<dyn wake::PlanePort>,
    broker: Option<Arc<dyn Broker>>,
    listen: Option<SocketAddr>,
) -> Result<wake::Setup, Failure> {
    let observer = Token::load(&context.token_file("observer"))?;
    Ok(wake::Setup {
        state: context.state.clone(),
        name: config.wake.name.clone(),
        mode: config.mode,
        limits: config.limits.get().clone(),
        config_hash: config.hash(),
        adapters: wake::adapters(&manifest, &means(context, config)?),
        manifest,
        plane,
        broker,
        listen,
        observer: Some(observer.hash()),
        pause: pause(config, &context.state),
        pace: wake::Pace::default(),
    })
}

/// What the adapters need beside the manifest.
fn means(context: &Context, config: &Config) -> Result<wake::Means, Failure> {
    let stations = config.stations.iter().map(|(target, station)| (target.clone(), station.listen));
    let secrets = Secrets::of_state(&context.state)?;
    let environment = Environment::without(Arc::new(secrets));
    Ok(wake::Means { environment, stations: stations.collect(), ..wake::Means::default() })
}

/// A refused manifest keeps the wake plane down and Tier-0 closed; mail goes on (CAP-2).
fn manifest(config: &Config) -> Manifest {
    let manifest = Manifest::load(&config.manifest, config.mode);
    if let Manifest::Refused(problems) = &manifest {
        tracing::error!(rule = "CAP-2", "the manifest is refused, Tier-0 stays closed:\n{problems}");
    }
    manifest
}

/// The first operator key, for a store that has none (IDN-7).
fn enrolment(
    context: &Context,
    config: &Config,
    router: &SecretKey,
    audit: &SecretKey,
) -> Result<Option<Enrolment>, Failure> {
    Ok(FirstOperator::load(&context.state)?.map(|first| Enrolment::Enrol {
        plane: config.plane.clone(),
        operator: first.operator,
        key: first.key,
        audit: audit.public(),
        router: Some(router.public()),
    }))
}

fn routes(config: &Config) -> Result<Routes, Failure> {
    Routes::new(config.routes.iter().map(|(schema, tier)| (schema.clone(), *tier)))
        .map_err(|reason| Failure::refused(reason).saying("in [routes]"))
}

fn pause(config: &Config, state: &Path) -> Option<Pause> {
    let points = config.trial.pause_at.clone();
    (!points.is_empty()).then(|| Pause { points, state: state.to_owned() })
}

/// SHA-256 of this very program (OPR-2).
fn binary() -> Result<ContentHash, Failure> {
    let read = || {
        let mut file = std::fs::File::open(std::env::current_exe()?)?;
        let mut hash = Sha256::new();
        // Piece by piece: the program would otherwise be the largest thing in its own memory.
        let mut piece = vec![0; 1 << 16];
        loop {
            match file.read(&mut piece)? {
                0 => return Ok(ContentHash(hash.finalize().into())),
                read => hash.update(piece.get(..read).unwrap_or_default()),
            }
        }
    };
    read().map_err(|error: std::io::Error| {
        Failure::new(Exit::Failed, format!("This program cannot read itself: {error}"))
    })
}

/// What keeps a second plane from its address is most often the first one: then its process is named (INB-10).
fn holder(context: &Context) -> Option<Failure> {
    let path = context.state.join("plane.db");
    if !path.exists() {
        return None;
    }
    let fault = crate::store::Lock::take(&path).err().filter(|fault| fault.reason == Reason::StoreHeld)?;
    Some(Refused::from(fault).into())
}

fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Failed, format!("No runtime: {error}")))
}

/// Logs go to standard error; standard output is for results.
fn log() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("AWAKENER_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let logger = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours);
    // A second call within one process finds the first one's logger.
    let _ = logger.with_writer(std::io::stderr).try_init();
}

fn ready(what: &str, address: SocketAddr, mode: Mode) {
    eprintln!("{what} serves on http://{address} (mode: {})", mode.as_str());
}

/// Returns when the process is asked to stop.
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut term), Ok(mut int)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        tracing::error!("signals cannot be heard; only a kill ends this process");
        return std::future::pending().await;
    };
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        Self::refused(refused.reason).saying(refused.detail)
    }
}

impl From<StationError> for Failure {
    fn from(error: StationError) -> Self {
        Self::refused(error.reason()).saying(error)
    }
}
