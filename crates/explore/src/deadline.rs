//! When something has to be over, and how the time of a search is divided.

use std::time::{Duration, Instant};

/// A moment by which something is done or given up; or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    pub const NEVER: Deadline = Deadline(None);

    /// So long from now.
    pub fn after(time: Duration) -> Deadline {
        Deadline(Instant::now().checked_add(time))
    }

    pub fn is_over(self) -> bool {
        self.left().is_zero()
    }

    /// The time that is left.
    pub fn left(self) -> Duration {
        self.0.map_or(Duration::MAX, |at| at.saturating_duration_since(Instant::now()))
    }

    /// The time that is left for something that may take so long in any case.
    pub fn within(self, limit: Duration) -> Duration {
        self.left().min(limit)
    }

    /// No sooner than so long after the start.
    fn or_after(self, start: Instant, least: Duration) -> Deadline {
        Deadline(self.0.and_then(|at| Some(at.max(start.checked_add(least)?))))
    }

    /// For the first of so many parts that share the time that is left.
    pub fn share(self, parts: u32) -> Deadline {
        match self.0 {
            None => Deadline::NEVER,
            Some(_) => Deadline::after(self.left() / parts.max(1)),
        }
    }
}

/// The time of a search, everything included, and when its parts are over. What a part leaves is for those after it.
///
/// A short search on a busy machine may have measured nothing by its end. It has [`GRACE`] more for the first form, and
/// the program itself has as much in any case: seconds late with something are better than in time with nothing.
#[derive(Clone, Copy, Debug)]
pub struct Timetable {
    start: Instant,
    time: Option<Duration>,
}

/// Shares of the time, from the start, in percent.
const SPACE: u32 = 30;
const REFERENCE: u32 = 50;
const SEARCH: u32 = 85;

const GRACE: Duration = Duration::from_secs(3);

impl Timetable {
    /// Starts now; without a time nothing is ever over.
    pub fn new(time: Option<Duration>) -> Timetable {
        Timetable { start: Instant::now(), time }
    }

    pub fn time(&self) -> Option<Duration> {
        self.time
    }

    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// No more programs are derived.
    pub fn space(&self) -> Deadline {
        self.at(SPACE)
    }

    /// Where the program itself has not run by then, it is not waited for.
    pub fn reference(&self) -> Deadline {
        self.at(REFERENCE).or_after(self.start, GRACE)
    }

    /// No more candidates are measured, except those that were fastest.
    pub fn search(&self) -> Deadline {
        self.at(SEARCH)
    }

    /// Nothing is measured any more.
    pub fn end(&self) -> Deadline {
        self.at(100)
    }

    /// Nothing is waited for any more, also where nothing was measured yet.
    pub fn latest(&self) -> Deadline {
        Deadline(self.end().0.and_then(|end| end.checked_add(GRACE)))
    }

    fn at(&self, percent: u32) -> Deadline {
        let after = self.time.map(|time| time.mul_f64(f64::from(percent) / 100.0));
        Deadline(after.and_then(|after| self.start.checked_add(after)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn what_is_never_over_has_time_for_everything() {
        let never = [
            Deadline::NEVER,
            Deadline::after(Duration::MAX),
            Deadline::NEVER.share(7),
            Timetable::new(None).space(),
            Timetable::new(None).end(),
        ];
        for deadline in never {
            assert!(!deadline.is_over());
            assert_eq!(deadline.within(HOUR), HOUR);
        }
    }

    #[test]
    fn what_is_over_leaves_no_time() {
        let over = Deadline::after(Duration::ZERO);
        for deadline in [over, over.share(2), Timetable::new(Some(Duration::ZERO)).end()] {
            assert!(deadline.is_over());
            assert_eq!(deadline.within(HOUR), Duration::ZERO);
        }
    }

    /// A search of no time waits for the program and for one form.
    #[test]
    fn something_is_waited_for_in_any_case() {
        let table = Timetable::new(Some(Duration::ZERO));
        assert!(table.end().is_over() && table.search().is_over());
        assert!(!table.reference().is_over() && !table.latest().is_over());
        assert!(table.latest().left() <= GRACE);
        assert!(Timetable::new(Some(HOUR)).reference().left() > HOUR / 3);
    }

    #[test]
    fn parts_come_one_after_the_other_and_end_in_time() {
        let table = Timetable::new(Some(HOUR));
        let parts = [table.space(), table.reference(), table.search(), table.end()];
        assert!(parts.is_sorted_by_key(|part| part.left()));
        assert!(table.end().left() <= HOUR && table.search().left() < HOUR);
        assert!(table.latest().left() > HOUR - Duration::from_secs(60));
        let whole = Deadline::after(HOUR);
        assert!(whole.share(4).left() < whole.share(2).left());
        assert!(whole.share(0).left() <= HOUR);
    }
}
