package cli

import (
	"io"
	"log/slog"

	"github.com/spf13/pflag"
)

// logFlags say what is logged to standard error. Logs carry no count of the graph.
type logFlags struct{ format, level string }

func (f *logFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.format, "log-format", "text", "text or json")
	fs.StringVar(&f.level, "log-level", "warn", "debug, info, warn or error")
}

func (f *logFlags) logger(w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.level)); err != nil {
		return nil, usagef("log-level %q is not debug, info, warn or error", f.level)
	}
	o := &slog.HandlerOptions{Level: level}
	switch f.format {
	case "text":
		return slog.New(slog.NewTextHandler(w, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return nil, usagef("log-format %q is not text or json", f.format)
}
