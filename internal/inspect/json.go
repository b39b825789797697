package inspect

import (
	"encoding/json"
	"fmt"
)

// JSON returns the report as indented JSON.
func JSON(report Report) (string, error) {
	raw, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return "", fmt.Errorf("encoding the report: %w", err)
	}
	return string(raw) + "\n", nil
}
