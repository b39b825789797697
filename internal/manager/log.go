package manager

import (
	"io"

	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	logzap "sigs.k8s.io/controller-runtime/pkg/log/zap"
)

const (
	logDebug = "debug"
	logInfo  = "info"
	logError = "error"

	logJSON = "json"
	logText = "text"
)

// newLogger returns the root logger. Debug shows V(1). There is no sampling, since no line about a change of the cloud may be lost, and no stack
// trace below a panic, since errors name the failed actions.
func newLogger(level, format string, out io.Writer) logr.Logger {
	levels := map[string]zapcore.Level{
		logDebug: zapcore.DebugLevel,
		logInfo:  zapcore.InfoLevel,
		logError: zapcore.ErrorLevel,
	}
	sink := zapcore.Lock(zapcore.AddSync(out))
	encoder := &logzap.KubeAwareEncoder{Encoder: newEncoder(format)}
	core := zapcore.NewCore(encoder, sink, levels[level])
	return zapr.NewLogger(zap.New(core, zap.ErrorOutput(sink), zap.AddStacktrace(zapcore.DPanicLevel)))
}

func newEncoder(format string) zapcore.Encoder {
	if format == logText {
		config := zap.NewDevelopmentEncoderConfig()
		config.EncodeTime = zapcore.RFC3339NanoTimeEncoder
		return zapcore.NewConsoleEncoder(config)
	}
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	return zapcore.NewJSONEncoder(config)
}
