// Package cli is everything between the operating system and the rooms: flags,
// environment, configuration file, exit codes, progress, and the wiring of one
// process or of a cluster process. It decides nothing about graphs or privacy.
//
// # Interface that scripts may rely on
//
// Exit codes are listed in exit.go and docs/exit-codes.md. With --output json,
// standard output carries exactly one JSON document; everything else goes to standard
// error. A flag --some-name can also be given as PRIVCOM_SOME_NAME or as some-name in
// the file of --config; the command line wins over the environment, and the
// environment over the file.
package cli
