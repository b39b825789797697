package manager

import (
	"io"

	"github.com/go-logr/logr"
	logzap "sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/trellis-garden/trellis/internal/logging"
)

// newLogger returns the root logger, in whose lines a Kubernetes object is its kind and name.
func newLogger(level, format string, out io.Writer) logr.Logger {
	return logging.NewWithEncoder(logging.LevelOf(level), &logzap.KubeAwareEncoder{Encoder: logging.NewEncoder(format)}, out)
}
