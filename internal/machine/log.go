package machine

import (
	"io"
	"strconv"

	"github.com/go-logr/logr"
	"go.uber.org/zap/zapcore"

	"github.com/trellis-garden/trellis/internal/logging"
)

// newLogger returns the root logger, which writes JSON as all our processes do. The verbosity is klog's, as the library uses it.
func newLogger(verbosity string, out io.Writer) logr.Logger {
	level, err := strconv.ParseInt(verbosity, 10, 8)
	if err != nil {
		level = 0
	}
	config := logging.JSONConfig()
	config.EncodeLevel = func(level zapcore.Level, out zapcore.PrimitiveArrayEncoder) {
		zapcore.LowercaseLevelEncoder(max(level, zapcore.DebugLevel), out) // klog's levels have no names
	}
	return logging.NewWithEncoder(zapcore.Level(-level), zapcore.NewJSONEncoder(config), out)
}
