package example

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/trellis-garden/trellis/charts"
)

// Chart returns a chart of ours whose schema has another type, as docs/development/add-a-provider.md says.
func Chart(name, version, providerType string) ([]byte, error) {
	archive, err := charts.Archive(name, version)
	if err != nil {
		return nil, err
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("reading chart %s: %w", name, err)
	}
	var buffer bytes.Buffer
	zipper := gzip.NewWriter(&buffer)
	from, to := tar.NewReader(unzipped), tar.NewWriter(zipper)
	for {
		header, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading chart %s: %w", name, err)
		}
		content, err := io.ReadAll(from)
		if err != nil {
			return nil, fmt.Errorf("reading chart %s: %w", name, err)
		}
		if header.Name == path.Join(name, "values.schema.json") {
			if content, err = addType(content, providerType); err != nil {
				return nil, fmt.Errorf("adding a type to chart %s: %w", name, err)
			}
		}
		header.Size = int64(len(content))
		if err := errors.Join(to.WriteHeader(header), write(to, content)); err != nil {
			return nil, fmt.Errorf("packing chart %s: %w", name, err)
		}
	}
	if err := errors.Join(to.Close(), zipper.Close()); err != nil {
		return nil, fmt.Errorf("packing chart %s: %w", name, err)
	}
	return buffer.Bytes(), nil
}

func write(w io.Writer, content []byte) error {
	_, err := w.Write(content)
	return err
}

// addType adds a type to those that a schema of values permits.
func addType(schema []byte, providerType string) ([]byte, error) {
	var document map[string]any
	if err := json.Unmarshal(schema, &document); err != nil {
		return nil, err
	}
	properties, _ := document["properties"].(map[string]any)
	types, _ := properties["types"].(map[string]any)
	items, _ := types["items"].(map[string]any)
	known, _ := items["enum"].([]any)
	if len(known) == 0 || slices.Contains(known, any(providerType)) {
		return nil, fmt.Errorf("properties.types.items.enum has %v", known)
	}
	items["enum"] = append(known, providerType)
	return json.Marshal(document)
}
