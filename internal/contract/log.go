package contract

import (
	"context"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/trellis-garden/trellis/internal/truncate"
)

// demote returns a logger for Gardener's flow engine, which logs every task and every failure that it also returns: its
// lines are logged with verbosity 1, and none as an error.
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
		s.LogSink.Info(1, msg, append(keysAndValues, "reason", truncate.Text(err.Error(), truncate.MaxStatus))...)
	}
}

func (s demotingSink) WithValues(keysAndValues ...any) logr.LogSink {
	return demotingSink{s.LogSink.WithValues(keysAndValues...)}
}

func (s demotingSink) WithName(name string) logr.LogSink {
	return demotingSink{s.LogSink.WithName(name)}
}

// truncateErrors returns the reconciler with truncated errors: controller-runtime logs what it returns.
func truncateErrors(inner reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		result, err := inner.Reconcile(ctx, request)
		return result, truncate.Error(err, truncate.MaxStatus)
	})
}
