package tuning

import (
	"errors"
	"fmt"
	"reflect"

	extensionsv1alpha1helper "github.com/gardener/gardener/pkg/api/extensions/v1alpha1/helper"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// tuneKubeletConfig changes fields of a KubeletConfiguration in a file, in any encoding. Unknown fields are kept.
func tuneKubeletConfig(content *extensionsv1alpha1.FileContentInline, fields map[string]any) error {
	if len(fields) == 0 {
		return nil
	}
	codec, err := codecOf(content.Encoding)
	if err != nil {
		return err
	}
	raw, err := codec.Decode([]byte(content.Data))
	if err != nil {
		return fmt.Errorf("decoding %s: %w", content.Encoding, err)
	}
	config, err := readKubeletConfig(raw)
	if err != nil {
		return err
	}
	if fields, err = asJSON(fields); err != nil {
		return err
	}
	changed := false
	for name, value := range fields {
		if present, ok := config[name]; !ok || !reflect.DeepEqual(present, value) {
			config[name], changed = value, true
		}
	}
	if !changed {
		return nil
	}
	if raw, err = yaml.Marshal(config); err != nil {
		return fmt.Errorf("writing the KubeletConfiguration: %w", err)
	}
	if raw, err = codec.Encode(raw); err != nil {
		return fmt.Errorf("encoding %s: %w", content.Encoding, err)
	}
	content.Data = string(raw)
	return nil
}

func readKubeletConfig(raw []byte) (map[string]any, error) {
	document, err := yaml.YAMLToJSONStrict(raw)
	if err != nil {
		return nil, fmt.Errorf("reading YAML: %w", err)
	}
	var config map[string]any
	if err := utiljson.Unmarshal(document, &config); err != nil {
		return nil, fmt.Errorf("reading the KubeletConfiguration: %w", err)
	}
	if config["kind"] != "KubeletConfiguration" {
		return nil, errors.New("expected a document of kind KubeletConfiguration")
	}
	return config, nil
}

// asJSON converts values to the types that they have when they are decoded.
func asJSON(fields map[string]any) (map[string]any, error) {
	raw, err := utiljson.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("encoding the fields to set: %w", err)
	}
	var read map[string]any
	return read, utiljson.Unmarshal(raw, &read)
}

// codecOf supports the encodings that gardener-node-agent supports.
func codecOf(encoding string) (extensionsv1alpha1helper.FileCodec, error) {
	id, err := extensionsv1alpha1helper.ParseFileCodecID(encoding)
	if err != nil {
		return nil, err
	}
	return extensionsv1alpha1helper.FileCodecForID(id), nil
}
