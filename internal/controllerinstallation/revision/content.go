package revision

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

const (
	nameLength = 10

	// maxSize is the maximum size of an encoded content. etcd accepts requests of 1.5 MiB (--max-request-bytes), which include the other fields of
	// the object.
	maxSize = 3<<19 - 64<<10
)

// Name is the first ten hexadecimal digits of a SHA-256 of the content without Source and Origin. It depends neither on the indentation of JSON nor
// on the order of maps.
func (c *Content) Name() (string, error) {
	encoded, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("encoding the content of a revision: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber() // otherwise different large numbers could become equal
	var document map[string]any
	if err := decoder.Decode(&document); err != nil {
		return "", fmt.Errorf("decoding the content of a revision: %w", err)
	}
	if document["values"] == nil {
		delete(document, "values") // "values: null" means no values, too
	}
	canonical, err := json.Marshal(document)
	if err != nil {
		return "", fmt.Errorf("encoding the content of a revision: %w", err)
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])[:nameLength], nil
}

func isName(name string) bool {
	digits, err := hex.DecodeString(name)
	return err == nil && len(name) == nameLength && hex.EncodeToString(digits) == name
}

// encode fails with a problem.Problem if the content is too large to be stored.
func encode(c *Content) ([]byte, error) {
	encoded, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encoding the content of a revision: %w", err)
	}
	if len(encoded) > maxSize {
		return nil, tooLarge(len(encoded))
	}
	return encoded, nil
}

func tooLarge(size int) *problem.Problem {
	return problem.New(problem.ChartTooLarge, fmt.Sprintf(
		"chart and values make %s bytes as they are kept, the chart in base64, and no more than %s are possible: leave out of the chart what seeds don't need",
		thousands(size), thousands(maxSize)))
}

// thousands formats a number with separators between groups of three digits.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for k := len(digits) - 3; k > 0; k -= 3 {
		digits = digits[:k] + "," + digits[k:]
	}
	return digits
}

func decode(encoded []byte) (*Content, error) {
	content := &Content{}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	if err := decoder.Decode(content); err != nil {
		return nil, fmt.Errorf("decoding it: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("decoding it: something follows after its end")
	}
	return content, nil
}
