package protocol

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/model"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// scalar decodes the text of a value. Timestamps without a format of their own have that of the place.
func (r refusal) scalar(m *model.Member, path, text, timeFormat string) (any, *wire.Error) {
	parsed, err := parseScalar(m, text, timeFormat)
	if err != nil {
		return nil, r.wrongType(path, text, m.Shape.Type)
	}
	if len(m.Shape.Enum) > 0 && !slices.Contains(m.Shape.Enum, text) {
		return nil, r.notInEnum(path, text, m.Shape.Enum)
	}
	size, limited := 0.0, true
	switch v := parsed.(type) {
	case string:
		size = float64(utf8.RuneCountInString(v))
	case int64:
		size = float64(v)
	case float64:
		size = v
	default:
		limited = false
	}
	if limited && !inRange(m.Shape, size) {
		return nil, r.outOfRange(path, text, m.Shape)
	}
	return parsed, nil
}

func inRange(shape *model.Shape, size float64) bool {
	return (shape.Min == nil || size >= *shape.Min) && (shape.Max == nil || size <= *shape.Max)
}

func parseScalar(m *model.Member, text, timeFormat string) (any, error) {
	switch m.Shape.Type {
	case model.Boolean:
		switch text {
		case "true", "True", "TRUE":
			return true, nil
		case "false", "False", "FALSE":
			return false, nil
		}
		return nil, fmt.Errorf("%q is not a boolean", text)
	case model.Integer:
		return strconv.ParseInt(text, 10, 32)
	case model.Long:
		return strconv.ParseInt(text, 10, 64)
	case model.Float, model.Double:
		return strconv.ParseFloat(text, 64)
	case model.Blob:
		return base64.StdEncoding.DecodeString(text)
	case model.Timestamp:
		return parseTime(or(m.TimeFormat(), timeFormat), text)
	default:
		return text, nil
	}
}

// Formats of timestamps. ISO 8601 is that of the protocols with XML, and of query strings.
const (
	iso8601       = "iso8601"
	unixTimestamp = "unixTimestamp"
	rfc822        = "rfc822"

	rfc822Layout = "Mon, 02 Jan 2006 15:04:05 GMT"
)

func parseTime(format, text string) (time.Time, error) {
	switch format {
	case unixTimestamp:
		seconds, err := strconv.ParseFloat(text, 64)
		return time.UnixMilli(int64(math.Round(seconds * 1000))).UTC(), err
	case rfc822:
		return time.Parse(rfc822Layout, text)
	default:
		return time.Parse(time.RFC3339, text)
	}
}

func formatTime(format string, t time.Time) string {
	t = t.UTC()
	switch {
	case format == unixTimestamp:
		return strconv.FormatInt(t.Unix(), 10)
	case format == rfc822:
		return t.Format(rfc822Layout)
	case t.Nanosecond() != 0:
		return t.Format("2006-01-02T15:04:05.000Z")
	default:
		return t.Format("2006-01-02T15:04:05Z")
	}
}

// formatScalar returns the text of a value, or an error if its type does not fit the shape. Timestamps without a format of their own have that of the place.
func formatScalar(m *model.Member, value any, timeFormat string) (string, error) {
	kind := m.Shape.Type
	switch v := value.(type) {
	case string:
		return formatString(m.Shape, v)
	case Undeclared:
		return string(v), fits(kind, value, model.String)
	case int:
		return formatScalar(m, int64(v), timeFormat)
	case bool:
		return strconv.FormatBool(v), fits(kind, value, model.Boolean)
	case int64:
		return strconv.FormatInt(v, 10), fits(kind, value, model.Integer, model.Long)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), fits(kind, value, model.Float, model.Double)
	case []byte:
		return base64.StdEncoding.EncodeToString(v), fits(kind, value, model.Blob)
	case time.Time:
		return formatTime(or(m.TimeFormat(), timeFormat), v), fits(kind, value, model.Timestamp)
	default:
		return "", fits(kind, value)
	}
}

func formatString(shape *model.Shape, text string) (string, error) {
	if err := fits(shape.Type, text, model.String, "character"); err != nil {
		return "", err
	}
	if len(shape.Enum) > 0 && !slices.Contains(shape.Enum, text) {
		return "", fmt.Errorf("%q is not one of %q", text, shape.Enum)
	}
	return text, nil
}

// fits returns an error unless the type of the shape is one of those that a value may have.
func fits(kind model.Type, value any, allowed ...model.Type) error {
	if slices.Contains(allowed, kind) {
		return nil
	}
	return fmt.Errorf("%v of type %T is not of type %s", value, value, kind)
}
