package machineimage

import (
	"encoding/json"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/runtime"
)

// MergeProviderConfigs returns the parent's CloudProfileConfig with the machine images of both, as Merge does. Everything else, and fields that are
// not known here, stay as they are in the parent's and in the images. check reports whether a config can be decoded; both must be.
func MergeProviderConfigs(parent, own *runtime.RawExtension, check func(*runtime.RawExtension) error) (*runtime.RawExtension, error) {
	merged, ofParent, err := imageDocuments(parent, check)
	if err != nil {
		return nil, fmt.Errorf("reading the parent's config: %w", err)
	}
	_, ofOwn, err := imageDocuments(own, check)
	if err != nil {
		return nil, fmt.Errorf("reading the config that is merged into the parent's: %w", err)
	}
	if len(ofOwn) == 0 {
		return parent, nil
	}
	images := Merge(ofParent, ofOwn, Shape[map[string]any, any]{
		Name: func(image map[string]any) string { return stringField(image, "name") },
		Versions: func(image map[string]any) []any {
			versions, _ := image["versions"].([]any)
			return versions
		},
		Version: func(version any) string { return stringField(version, "version") },
		With:    withVersions,
	})
	if merged["machineImages"], err = json.Marshal(images); err != nil {
		return nil, fmt.Errorf("encoding machineImages: %w", err)
	}
	raw, err := json.Marshal(merged)
	if err != nil {
		return nil, fmt.Errorf("encoding CloudProfileConfig: %w", err)
	}
	return &runtime.RawExtension{Raw: raw}, nil
}

// imageDocuments returns the fields of a config, and its machine images, as they are written.
func imageDocuments(config *runtime.RawExtension, check func(*runtime.RawExtension) error) (fields map[string]json.RawMessage, images []map[string]any, err error) {
	if err := check(config); err != nil {
		return nil, nil, err
	}
	encoded, err := json.Marshal(config)
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return nil, nil, err
	}
	if written, ok := fields["machineImages"]; ok {
		if err := json.Unmarshal(written, &images); err != nil {
			return nil, nil, fmt.Errorf("machineImages: %w", err)
		}
	}
	return fields, images, nil
}

func stringField(document any, key string) string {
	fields, _ := document.(map[string]any)
	text, _ := fields[key].(string)
	return text
}

func withVersions(image map[string]any, versions []any) map[string]any {
	changed := make(map[string]any, len(image)+1)
	maps.Copy(changed, image)
	changed["versions"] = versions
	return changed
}
