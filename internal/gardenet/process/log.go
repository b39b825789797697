package process

import (
	"io"

	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// The values of --log-level and --log-format.
const (
	LogDebug = "debug"
	LogInfo  = "info"
	LogError = "error"

	LogJSON = "json"
	LogText = "text"
)

// NewLogger returns the root logger, which writes as all our processes do. Debug shows V(1). There is no sampling, since no line about a change of the node
// may be lost.
func NewLogger(level, format string, out io.Writer) logr.Logger {
	levels := map[string]zapcore.Level{LogDebug: zapcore.DebugLevel, LogInfo: zapcore.InfoLevel, LogError: zapcore.ErrorLevel}
	sink := zapcore.Lock(zapcore.AddSync(out))
	core := zapcore.NewCore(newEncoder(format), sink, levels[level])
	return zapr.NewLogger(zap.New(core, zap.ErrorOutput(sink), zap.AddStacktrace(zapcore.DPanicLevel)))
}

func newEncoder(format string) zapcore.Encoder {
	if format == LogText {
		config := zap.NewDevelopmentEncoderConfig()
		config.EncodeTime = zapcore.RFC3339NanoTimeEncoder
		return zapcore.NewConsoleEncoder(config)
	}
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	return zapcore.NewJSONEncoder(config)
}
