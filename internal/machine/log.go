package machine

import (
	"io"
	"strconv"

	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// newLogger returns the root logger, which writes JSON as all our processes do. The verbosity is klog's, as the library uses it.
func newLogger(verbosity string, out io.Writer) logr.Logger {
	level, err := strconv.ParseInt(verbosity, 10, 8)
	if err != nil {
		level = 0
	}
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	config.EncodeLevel = func(level zapcore.Level, out zapcore.PrimitiveArrayEncoder) {
		zapcore.LowercaseLevelEncoder(max(level, zapcore.DebugLevel), out) // klog's levels have no names
	}
	sink := zapcore.Lock(zapcore.AddSync(out))
	core := zapcore.NewCore(zapcore.NewJSONEncoder(config), sink, zapcore.Level(-level))
	return zapr.NewLogger(zap.New(core, zap.ErrorOutput(sink), zap.AddStacktrace(zapcore.DPanicLevel)))
}
