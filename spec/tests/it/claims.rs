//! Finds what tests claim: every `enforces!` and `enforces_process!` that is compiled and runs.
//!
//! Read with a parser, so a comment or a text never counts. A test that is ignored, is expected to panic, or stands
//! under a `cfg` other than `cfg(test)` claims nothing. Not here: whether the claims are right (`ledger`).

use std::collections::BTreeSet;

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Block, Expr, Ident, Item, Lit, Meta, Token, Type};

use crate::tree::{Tree, roots, rust_files};

/// One test and the rules that it claims, by variant (`Ack2`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Where the test stands.
    pub file: String,
    /// Its name.
    pub test: String,
    /// What it claims.
    pub rules: Vec<String>,
}

/// Everything that is claimed in the tree.
#[derive(Debug, Default)]
pub struct Claims {
    /// The claims of tests that run.
    pub all: Vec<Claim>,
    /// What keeps the collector from being sure.
    pub problems: Vec<String>,
}

/// Follows the modules of every crate in the tree and collects.
pub fn collect(tree: &Tree) -> Claims {
    let mut claims = Claims::default();
    let mut compiled = BTreeSet::new();
    for root in roots(tree) {
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        visit_file(tree, &root, &folder, true, &mut compiled, &mut claims);
    }
    for path in rust_files(tree).filter(|path| !compiled.contains(*path)) {
        let mut orphan = Claims::default();
        visit_file(tree, path, "", false, &mut BTreeSet::new(), &mut orphan);
        if !orphan.all.is_empty() {
            claims.problems.push(format!("{path} claims rules and is part of no crate: no `mod` reaches it"));
        }
    }
    claims
}

/// `folder` is where the modules of this file lie; `follow` says whether to go there.
fn visit_file(
    tree: &Tree,
    path: &str,
    folder: &str,
    follow: bool,
    compiled: &mut BTreeSet<String>,
    claims: &mut Claims,
) {
    if !compiled.insert(path.to_owned()) {
        return;
    }
    match syn::parse_file(&tree[path]) {
        Ok(file) => {
            let mut visit = Visit { tree, path, follow, compiled, claims };
            visit.items(&file.items, folder);
        }
        Err(error) => claims.problems.push(format!("{path} is not Rust: {error}")),
    }
}

struct Visit<'a> {
    tree: &'a Tree,
    path: &'a str,
    follow: bool,
    compiled: &'a mut BTreeSet<String>,
    claims: &'a mut Claims,
}

impl Visit<'_> {
    /// Items only: a test inside of a function body is never run.
    fn items(&mut self, items: &[Item], folder: &str) {
        for item in items {
            match item {
                Item::Macro(item) if runs(&item.attrs) => self.invocation(&item.mac),
                Item::Mod(item) if runs(&item.attrs) => self.module(item, folder),
                _ => {}
            }
        }
    }

    fn invocation(&mut self, mac: &syn::Macro) {
        let named = mac
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == "enforces" || last.ident == "enforces_process");
        if !named {
            return;
        }
        match mac.parse_body::<Tests>() {
            Ok(Tests(tests)) => {
                for test in tests.into_iter().filter(|test| runs(&test.attrs)) {
                    let rules = test.rules.iter().map(Ident::to_string).collect();
                    let file = self.path.to_owned();
                    self.claims.all.push(Claim { file, test: test.name.to_string(), rules });
                }
            }
            Err(error) => {
                self.claims.problems.push(format!("{}: a claim does not parse: {error}", self.path))
            }
        }
    }

    fn module(&mut self, module: &syn::ItemMod, folder: &str) {
        let name = module.ident.to_string();
        let inner = join(folder, &name);
        if let Some((_, items)) = &module.content {
            return self.items(items, &inner);
        }
        let beside = self.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let candidates = match explicit_path(&module.attrs) {
            Some(path) => vec![join(beside, &path)],
            None => vec![format!("{inner}.rs"), format!("{inner}/mod.rs")],
        };
        if !self.follow {
            return;
        }
        match candidates.iter().find(|path| self.tree.contains_key(*path)) {
            Some(path) => visit_file(self.tree, path, &inner, true, self.compiled, self.claims),
            None => self.claims.problems.push(format!("{}: the file of `mod {name}` is missing", self.path)),
        }
    }
}

/// Whether what has these attributes is compiled into the tests and, if a test, runs and must pass.
fn runs(attrs: &[Attribute]) -> bool {
    attrs.iter().all(|attr| match &attr.meta {
        Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string() == "test",
        meta => !["ignore", "should_panic", "cfg_attr"].iter().any(|name| meta.path().is_ident(name)),
    })
}

fn explicit_path(attrs: &[Attribute]) -> Option<String> {
    attrs.iter().find_map(|attr| match &attr.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    })
}

/// The path of `name` in `folder`, without steps back.
fn join(folder: &str, name: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(name.split('/')).filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

/// The body of the macro: the same grammar as in `awakener_tools::evidence`.
struct Tests(Vec<Test>);

struct Test {
    attrs: Vec<Attribute>,
    rules: Vec<Ident>,
    name: Ident,
}

impl Parse for Tests {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut tests = Vec::new();
        while !input.is_empty() {
            tests.push(input.parse()?);
        }
        Ok(Self(tests))
    }
}

impl Parse for Test {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let (list, argument);
        syn::bracketed!(list in input);
        let rules = Punctuated::<Ident, Token![,]>::parse_terminated(&list)?.into_iter().collect();
        input.parse::<Token![fn]>()?;
        let name = input.parse()?;
        syn::parenthesized!(argument in input);
        argument.parse::<Ident>()?;
        if input.peek(Token![->]) {
            input.parse::<Token![->]>()?;
            input.parse::<Type>()?;
        }
        input.parse::<Block>()?;
        Ok(Self { attrs, rules, name })
    }
}
