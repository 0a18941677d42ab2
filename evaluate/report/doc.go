// Package report writes the two pages that people look at: release.html, which is
// public and goes into a release folder, and evaluation.html, which compares with
// the original, is private, and says so in red on every screen and printed page.
//
// Contract. A page is one file: style and drawings stand inline, nothing is loaded
// from anywhere (a content security policy in the page forbids it), and no script is
// needed. It follows the reader's light or dark setting, fits a phone, prints, and
// can be read by keyboard and screen reader: headings in order, captions on tables,
// a title and a description on every drawing, and no figure in a drawing only.
//
// ReleaseReport and Evaluation are separate on purpose: the public page is made from
// a struct that has no room for anything of the original graph. The caller vouches
// that what it fills in is public.
//
// Invariants. All text is escaped. The page is a function of its input: no date, no
// host, no path but what the input holds. A page is written whole or not at all.
//
// What it refuses: figures that are not finite or are negative where they are
// counts, and a release page without a guarantee sentence.
package report
