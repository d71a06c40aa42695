//! Every world by its name, without its types: what the command needs of it.
//!
//! A new world is one line in [`all`]. Rules: none of its own.

use std::fmt::Debug;
use std::marker::PhantomData;

use serde::Serialize;

use crate::check::{self, ScopeReport, Settings, Watch};
use crate::controls;
use crate::engine::{self, Options};
use crate::export::{self, Format, TooLarge};
use crate::lookup::{Unknown, find};
use crate::manifest::Pin;
use crate::measure::job::Subject;
use crate::second::Second;
use crate::trace::Trace;
use crate::trace::told::Told;
use crate::world::{Gap, Group, Scope, World};
use crate::{cyclic, mailbox, station, system, waker};

/// Every world.
pub fn all() -> Vec<Box<dyn Listed>> {
    vec![
        of::<mailbox::World>(),
        of::<waker::World>(),
        of::<station::World>(),
        of::<system::World>(),
        of::<cyclic::waker::World>(),
        of::<cyclic::system::World>(),
    ]
}

/// A world, by its type.
pub fn of<W: World>() -> Box<dyn Listed> {
    Box::new(Of::<W>(PhantomData))
}

/// A scope, as it is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScopeLine {
    /// Its name.
    pub name: &'static str,
    /// When it is searched.
    pub group: Group,
    /// In what its adversary is more than the least one.
    pub bounds: Vec<(&'static str, String)>,
}

/// A law, as it is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LawLine {
    /// Its whole name.
    pub name: &'static str,
    /// The id of its rule.
    pub rule: &'static str,
    /// Its twin.
    pub twin: &'static str,
}

/// Why there is no graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoGraph {
    /// There is no such scope.
    Unknown(Unknown),
    /// It would be too large.
    TooLarge(TooLarge),
    /// Its search does not end within what the format can take.
    Cut(u64),
}

/// What the command needs of a world.
pub trait Listed: Debug + Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;
    /// Its scopes.
    fn scopes(&self) -> Vec<ScopeLine>;
    /// Its laws.
    fn laws(&self) -> Vec<LawLine>;
    /// What was simplified.
    fn abstractions(&self) -> &'static [&'static str];
    /// What is not modelled.
    fn gaps(&self) -> &'static [Gap];
    /// Checks a scope ([`check::scope`]).
    ///
    /// # Errors
    /// There is no such scope.
    fn check(
        &self,
        scope: &str,
        settings: &Settings,
        pinned: Option<Option<&Pin>>,
        watch: &Watch,
    ) -> Result<ScopeReport, Unknown>;
    /// Searches a scope as controls do ([`controls::search`]).
    ///
    /// # Errors
    /// There is no such scope.
    fn search(&self, scope: &str) -> Result<controls::Found, Unknown>;
    /// Follows a trace.
    ///
    /// # Errors
    /// There is no such scope or law.
    fn follow(&self, trace: &Trace) -> Result<Told, Unknown>;
    /// Writes the graph of a scope.
    ///
    /// # Errors
    /// [`NoGraph`].
    fn graph(&self, scope: &str, format: Format) -> Result<String, NoGraph>;
    /// Serves stateright's explorer on the loopback interface, for ever.
    ///
    /// # Errors
    /// There is no such scope.
    fn serve(&self, scope: &str, port: u16) -> Result<(), Unknown>;
    /// As something to be measured.
    fn subject(&self) -> Subject;
}

#[derive(Debug)]
struct Of<W>(PhantomData<fn() -> W>);

impl<W: World> Of<W> {
    fn scope(name: &str) -> Result<Scope<W>, Unknown> {
        let mut scopes = W::scopes();
        let names: Vec<&str> = scopes.iter().map(|scope| scope.name).collect();
        let at = find("scope", name, &names)?;
        Ok(scopes.swap_remove(at))
    }
}

impl<W: World> Listed for Of<W> {
    fn name(&self) -> &'static str {
        W::NAME
    }

    fn scopes(&self) -> Vec<ScopeLine> {
        let line = |scope: Scope<W>| ScopeLine { name: scope.name, group: scope.group, bounds: scope.bounds };
        W::scopes().into_iter().map(line).collect()
    }

    fn laws(&self) -> Vec<LawLine> {
        W::LAWS.iter().map(|law| LawLine { name: law.name, rule: law.rule(), twin: law.twin }).collect()
    }

    fn abstractions(&self) -> &'static [&'static str] {
        W::ABSTRACTIONS
    }

    fn gaps(&self) -> &'static [Gap] {
        W::GAPS
    }

    fn check(
        &self,
        scope: &str,
        settings: &Settings,
        pinned: Option<Option<&Pin>>,
        watch: &Watch,
    ) -> Result<ScopeReport, Unknown> {
        Ok(check::scope(&Self::scope(scope)?, settings, pinned, watch))
    }

    fn search(&self, scope: &str) -> Result<controls::Found, Unknown> {
        Ok(controls::search(&Self::scope(scope)?))
    }

    fn follow(&self, trace: &Trace) -> Result<Told, Unknown> {
        let scope = Self::scope(&trace.scope)?;
        let names: Vec<&str> = W::LAWS.iter().map(|law| law.name).collect();
        let law = trace.law.as_ref().map(|law| find("law", law, &names)).transpose()?;
        Ok(Told::of(&scope, trace, law))
    }

    fn graph(&self, scope: &str, format: Format) -> Result<String, NoGraph> {
        let scope = Self::scope(scope).map_err(NoGraph::Unknown)?;
        // What is cut shortly beyond the limit has a number to tell, without being searched to its end.
        let states = format.most().0 as u64 + 1;
        let options = Options { states: Some(states.max(100_000)), ..Options::default() };
        let found = engine::explore(&scope.world, &options);
        match found.graph.filter(|_| found.cut.is_none()) {
            Some(graph) => export::write(scope.name, &graph, format).map_err(NoGraph::TooLarge),
            None => Err(NoGraph::Cut(found.states)),
        }
    }

    fn serve(&self, scope: &str, port: u16) -> Result<(), Unknown> {
        use stateright::Model as _;
        let scope = Self::scope(scope)?;
        // It returns only when its own server ends.
        drop(Second(scope.world).checker().serve((std::net::Ipv4Addr::LOCALHOST, port)));
        Ok(())
    }

    fn subject(&self) -> Subject {
        Subject::of::<W>()
    }
}
