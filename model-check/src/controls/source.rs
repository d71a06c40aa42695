//! Where functions and fields stand in a source file.
//!
//! Places are byte ranges of the text, so that what is not touched stays letter for letter what it was. Not here: what
//! is done at a place ([`super::weave`]).

use std::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

/// A function with a body.
#[derive(Clone, Debug)]
pub struct Function {
    /// `Type::function`, or the bare name outside of an `impl`.
    pub name: String,
    /// The body, braces included.
    pub body: Range<usize>,
    /// The word `const` and what follows it up to the next word.
    pub constant: Option<Range<usize>>,
    /// What it returns, as it is written.
    pub returns: Option<Range<usize>>,
}

/// What a file declares.
#[derive(Debug, Default)]
pub struct Source {
    /// Functions, outer ones before those inside them.
    pub functions: Vec<Function>,
    /// Structures with their named fields.
    pub structures: Vec<(String, Vec<String>)>,
    around: Option<String>,
}

impl Source {
    /// Reads a file.
    ///
    /// # Errors
    /// It is no Rust.
    pub fn of(text: &str) -> syn::Result<Self> {
        let file = syn::parse_file(text)?;
        let mut source = Self::default();
        source.visit_file(&file);
        Ok(source)
    }

    /// The innermost function whose body has all of `range`.
    pub fn around(&self, range: &Range<usize>) -> Option<&Function> {
        let has = |f: &&Function| f.body.start < range.start && range.end < f.body.end;
        self.functions.iter().filter(has).min_by_key(|f| f.body.len())
    }

    /// The one function of this name.
    pub fn function(&self, name: &str) -> Option<&Function> {
        let mut found = self.functions.iter().filter(|f| f.name == name);
        found.next().filter(|_| found.next().is_none())
    }

    /// The fields of a structure.
    pub fn fields(&self, structure: &str) -> Option<&[String]> {
        self.structures.iter().find(|(name, _)| name == structure).map(|(_, fields)| fields.as_slice())
    }

    fn function_of(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let name = match &self.around {
            Some(kind) => format!("{kind}::{}", signature.ident),
            None => signature.ident.to_string(),
        };
        let constant = signature.constness.map(|word| {
            let next = signature.asyncness.map_or(signature.fn_token.span, |word| word.span);
            place(word.span).start..place(next).start
        });
        let returns = match &signature.output {
            syn::ReturnType::Default => None,
            syn::ReturnType::Type(_, kind) => Some(place(kind.span())),
        };
        self.functions.push(Function { name, body: place(block.span()), constant, returns });
    }
}

fn place(span: Span) -> Range<usize> {
    span.byte_range()
}

impl<'ast> Visit<'ast> for Source {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let name = match item.self_ty.as_ref() {
            syn::Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
            _ => None,
        };
        let outer = std::mem::replace(&mut self.around, name);
        visit::visit_item_impl(self, item);
        self.around = outer;
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function_of(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let outer = self.around.take();
        self.function_of(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
        self.around = outer;
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let fields = item.fields.iter().filter_map(|field| field.ident.as_ref());
        self.structures.push((item.ident.to_string(), fields.map(ToString::to_string).collect()));
    }
}
