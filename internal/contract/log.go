package contract

import "github.com/go-logr/logr"

// demote returns a logger for Gardener's flow engine, which logs every task and every failure that it also returns: its
// lines move to verbosity 1 and none is an error.
func demote(log logr.Logger) logr.Logger {
	if log.GetSink() == nil {
		return log
	}
	return log.WithSink(demotingSink{log.GetSink()})
}

type demotingSink struct{ logr.LogSink }

func (s demotingSink) Enabled(level int) bool { return s.LogSink.Enabled(level + 1) }

func (s demotingSink) Info(level int, msg string, keysAndValues ...any) {
	s.LogSink.Info(level+1, msg, keysAndValues...)
}

func (s demotingSink) Error(err error, msg string, keysAndValues ...any) {
	if s.Enabled(0) {
		s.LogSink.Info(1, msg, append(keysAndValues, "reason", err.Error())...)
	}
}

func (s demotingSink) WithValues(keysAndValues ...any) logr.LogSink {
	return demotingSink{s.LogSink.WithValues(keysAndValues...)}
}

func (s demotingSink) WithName(name string) logr.LogSink {
	return demotingSink{s.LogSink.WithName(name)}
}
