// Package logging makes the loggers of all our processes, so that their lines look alike. It must not depend on what the processes do.
package logging

import (
	"io"

	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// The values of --log-level and --log-format.
const (
	Debug = "debug"
	Info  = "info"
	Error = "error"

	JSON = "json"
	Text = "text"
)

// Levels returns the values of --log-level.
func Levels() []string { return []string{Debug, Info, Error} }

// Formats returns the values of --log-format.
func Formats() []string { return []string{JSON, Text} }

// New returns a root logger. Debug shows V(1).
func New(level, format string, out io.Writer) logr.Logger {
	return NewWithEncoder(LevelOf(level), NewEncoder(format), out)
}

// NewWithEncoder returns a root logger. There is no sampling, since no line about a change may be lost, and no stack trace below a panic, since errors name the
// failed actions.
func NewWithEncoder(level zapcore.Level, encoder zapcore.Encoder, out io.Writer) logr.Logger {
	sink := zapcore.Lock(zapcore.AddSync(out))
	core := zapcore.NewCore(encoder, sink, level)
	return zapr.NewLogger(zap.New(core, zap.ErrorOutput(sink), zap.AddStacktrace(zapcore.DPanicLevel)))
}

// LevelOf returns zap's level for a value of --log-level, info if it is another one.
func LevelOf(level string) zapcore.Level {
	return map[string]zapcore.Level{Debug: zapcore.DebugLevel, Info: zapcore.InfoLevel, Error: zapcore.ErrorLevel}[level]
}

// NewEncoder returns the encoder of a format: text for people, else JSON.
func NewEncoder(format string) zapcore.Encoder {
	if format == Text {
		config := zap.NewDevelopmentEncoderConfig()
		config.EncodeTime = zapcore.RFC3339NanoTimeEncoder
		return zapcore.NewConsoleEncoder(config)
	}
	return zapcore.NewJSONEncoder(JSONConfig())
}

// JSONConfig returns the configuration of the encoder of JSON.
func JSONConfig() zapcore.EncoderConfig {
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	return config
}
