//! The tree over the audit chain (AUD-3), kept in memory so that no proof hashes the chain again.
//!
//! Of every 256 leaves the head is kept, of every 256 of these, and so on: 32 bytes for 256 records. What is below is
//! read from the records themselves when a proof needs it, at most 256 of them at a time. A leaf is the hash of the
//! stored bytes, whatever hash stands beside them. Nothing here is stored: the walk of each start makes it anew. Not
//! here: the algorithms of the tree (the kernel's), and who signs a head.

use awakener_kernel::audit::tree::{self, Nodes, Tree};
use awakener_kernel::audit::{self};
use awakener_kernel::ids::ContentHash;
use rusqlite::{Connection, params};

/// The levels between what is kept.
const STEP: u32 = 8;

/// The tree, as far as it has grown.
#[derive(Clone, Debug, Default)]
pub struct Forest {
    tree: Tree,
    /// The subtree that is growing, per kept level.
    growing: Vec<Tree>,
    /// Heads of full subtrees, per kept level; the first are those over 256 leaves.
    full: Vec<Vec<ContentHash>>,
    /// Where positions begin to be consecutive: first position, number of its leaf. A chain that lost its tail has a
    /// gap.
    runs: Vec<(u64, u64)>,
    /// The position of the last leaf.
    last: u64,
}

impl Forest {
    /// Adds a record.
    pub fn push(&mut self, position: u64, hash: &ContentHash) {
        if self.tree.size() == 0 || position != self.last + 1 {
            self.runs.push((position, self.tree.size()));
        }
        self.last = position;
        let mut node = tree::leaf(&hash.0);
        self.tree.push_leaf(node);
        for level in 0.. {
            if self.growing.len() == level {
                self.growing.push(Tree::default());
            }
            self.growing[level].push_leaf(node);
            if self.growing[level].size() < 1 << STEP {
                break;
            }
            node = std::mem::take(&mut self.growing[level]).head();
            if self.full.len() == level {
                self.full.push(Vec::new());
            }
            self.full[level].push(node);
        }
    }

    /// Takes in what was appended since.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn catch_up(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        let last = i64::try_from(self.last).unwrap_or(i64::MAX);
        let mut new =
            conn.prepare_cached("SELECT position, entry FROM audit WHERE position > ?1 ORDER BY position")?;
        let mut rows = new.query([last])?;
        while let Some(row) = rows.next()? {
            let position: i64 = row.get(0)?;
            let position =
                u64::try_from(position).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(0, position))?;
            let stored = row.get_ref(1)?.as_blob()?;
            self.push(position, &audit::hash(stored));
        }
        Ok(())
    }

    /// How many records.
    pub const fn size(&self) -> u64 {
        self.tree.size()
    }

    /// The position of the last record; 0 if there is none.
    pub const fn last(&self) -> u64 {
        self.last
    }

    /// The head over all of them.
    pub fn head(&self) -> ContentHash {
        self.tree.head()
    }

    /// The number of the leaf, from 0, of the record at this position.
    pub fn index(&self, position: u64) -> Option<u64> {
        let run = self.runs.partition_point(|(first, _)| *first <= position).checked_sub(1)?;
        let (first, index) = *self.runs.get(run)?;
        let end = self.runs.get(run + 1).map_or(self.size(), |(_, index)| *index);
        Some(index + (position - first)).filter(|index| *index < end)
    }

    fn position(&self, index: u64) -> u64 {
        let run = self.runs.partition_point(|(_, first)| *first <= index).saturating_sub(1);
        self.runs.get(run).map_or(0, |(position, first)| position + (index - first))
    }

    /// The nodes of the tree, for proofs; `conn` must have what was pushed.
    pub const fn nodes<'a>(&'a self, conn: &'a Connection) -> Stored<'a> {
        Stored { forest: self, conn }
    }
}

/// The nodes of a [`Forest`] over the records in a file.
#[derive(Debug)]
pub struct Stored<'a> {
    forest: &'a Forest,
    conn: &'a Connection,
}

impl Nodes for Stored<'_> {
    type Error = rusqlite::Error;

    fn full(&mut self, level: u32, index: u64) -> rusqlite::Result<ContentHash> {
        let (kept, above) = (level / STEP, level % STEP);
        let (from, len) = (index << above, 1_u64 << above);
        let mut part = Tree::default();
        match kept.checked_sub(1) {
            Some(kept) => {
                let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
                let heads = self.forest.full.get(number(u64::from(kept)));
                heads
                    .and_then(|heads| heads.get(number(from)..number(from + len)))
                    .ok_or(rusqlite::Error::QueryReturnedNoRows)?
                    .iter()
                    .for_each(|head| part.push_leaf(*head));
            }
            None => {
                let ends = [from, from + len - 1].map(|index| self.forest.position(index));
                let ends = ends.map(|position| i64::try_from(position).unwrap_or(i64::MAX));
                let mut leaves = self.conn.prepare_cached(
                    "SELECT entry FROM audit WHERE position BETWEEN ?1 AND ?2 ORDER BY position",
                )?;
                let mut rows = leaves.query(params![ends[0], ends[1]])?;
                while let Some(row) = rows.next()? {
                    part.push(&audit::hash(row.get_ref(0)?.as_blob()?));
                }
                if part.size() != len {
                    return Err(rusqlite::Error::QueryReturnedNoRows);
                }
            }
        }
        Ok(part.head())
    }
}

#[cfg(test)]
mod tests {
    use awakener_kernel::audit::proof::{consistent, included};
    use awakener_kernel::audit::tree::{consistency, head_at, inclusion, leaf};

    use super::*;

    /// A file with as many records as `positions`, and its tree.
    fn grown(positions: impl IntoIterator<Item = u64>) -> (Connection, Forest, Vec<ContentHash>) {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE audit (position INTEGER PRIMARY KEY, entry BLOB); BEGIN").unwrap();
        let mut hashes = Vec::new();
        for position in positions {
            let entry = position.to_be_bytes();
            conn.execute("INSERT INTO audit VALUES (?1, ?2)", params![position.cast_signed(), &entry[..]])
                .unwrap();
            hashes.push(audit::hash(&entry));
        }
        let mut forest = Forest::default();
        forest.catch_up(&conn).unwrap();
        (conn, forest, hashes)
    }

    #[test]
    fn aud_3_proofs_from_what_is_kept_verify_at_any_size() {
        // Over two kept levels, with a gap where a tail was lost.
        let (conn, forest, hashes) = grown((1..=66_000).chain(66_500..66_600));
        assert_eq!(forest.size(), 66_100);
        let mut tree = Tree::default();
        let mut heads = vec![tree.head()];
        for hash in &hashes {
            tree.push(hash);
            heads.push(tree.head());
        }
        assert_eq!(forest.head(), tree.head());
        let sizes = [1_u64, 2, 255, 256, 257, 300, 65_535, 65_536, 65_537, 66_000, 66_001, 66_100];
        let head = |size: u64| heads[usize::try_from(size).unwrap()];
        for size in sizes {
            assert_eq!(head_at(&mut forest.nodes(&conn), size).unwrap(), head(size));
            for first in sizes.into_iter().filter(|first| *first <= size) {
                let path = consistency(&mut forest.nodes(&conn), first, size).unwrap().unwrap();
                assert!(consistent(first, size, &head(first), &head(size), &path), "{first} of {size}");
                let index = first - 1;
                let path = inclusion(&mut forest.nodes(&conn), index, size).unwrap().unwrap();
                let leaf = leaf(&hashes[usize::try_from(index).unwrap()].0);
                assert!(included(&leaf, index, size, &path, &head(size)), "{index} of {size}");
                assert!(!included(&leaf, index, size, &path, &head(size - 1)));
            }
        }
        for (position, index) in [
            (0, None),
            (1, Some(0)),
            (66_000, Some(65_999)),
            (66_001, None),
            (66_499, None),
            (66_500, Some(66_000)),
        ] {
            assert_eq!(forest.index(position), index, "{position}");
        }
        assert_eq!((forest.index(66_599), forest.index(66_600)), (Some(66_099), None));
        // A record that was changed or taken away since does not go unseen.
        conn.execute("UPDATE audit SET entry = x'00' WHERE position = 3", []).unwrap();
        let path = inclusion(&mut forest.nodes(&conn), 3, 300).unwrap().unwrap();
        assert!(!included(&leaf(&hashes[3].0), 3, 300, &path, &head(300)));
        conn.execute("DELETE FROM audit WHERE position = 3", []).unwrap();
        inclusion(&mut forest.nodes(&conn), 3, 300).unwrap_err();
    }

    #[test]
    fn aud_3_a_tree_grows_in_parts_as_at_once() {
        let (conn, whole, _) = grown(1..=1_000);
        conn.execute("DELETE FROM audit WHERE position > 600", []).unwrap();
        let mut parts = Forest::default();
        parts.catch_up(&conn).unwrap();
        assert_ne!(parts.head(), whole.head());
        for position in 601..=1_000_u64 {
            let entry = position.to_be_bytes();
            conn.execute("INSERT INTO audit VALUES (?1, ?2)", params![position.cast_signed(), &entry[..]])
                .unwrap();
            parts.catch_up(&conn).unwrap();
        }
        assert_eq!((parts.head(), parts.size(), parts.last()), (whole.head(), 1_000, 1_000));
        assert_eq!(parts.full, whole.full);
    }
}
