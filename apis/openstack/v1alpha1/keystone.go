package v1alpha1

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/internal/codec"
)

// Keystone returns the URL and CA bundle of Keystone for the region. It is an error if the CloudProfile has no URL for it: only the
// CloudProfile may determine where the shoots of a landscape log in.
func (c *CloudProfileConfig) Keystone(region string) (KeyStoneURL, error) {
	keystone := KeyStoneURL{Region: region, URL: c.KeyStoneURL, CACert: c.KeyStoneCACert}
	for _, regional := range c.KeyStoneURLs {
		if regional.Region != region {
			continue
		}
		keystone.URL = regional.URL
		if regional.CACert != nil && *regional.CACert != "" {
			keystone.CACert = regional.CACert
		}
		break
	}
	if keystone.URL == "" {
		return KeyStoneURL{}, fmt.Errorf("the cloud profile has no URL of Keystone for region %q: ask its admin to set keystoneURL, "+
			"or to list the region in keystoneURLs", region)
	}
	return keystone, nil
}

// DecodeKeystone decodes only the URLs and CA bundles of Keystone from a CloudProfileConfig; all other fields are empty. Errors in other
// fields are ignored.
func DecodeKeystone(raw *runtime.RawExtension) (*CloudProfileConfig, error) {
	fields := map[string]json.RawMessage{}
	if raw != nil && len(raw.Raw) > 0 {
		if err := json.Unmarshal(raw.Raw, &fields); err != nil {
			return DecodeCloudProfileConfig(raw) // which has a better error message
		}
	}
	keystone := map[string]json.RawMessage{}
	for _, name := range []string{"apiVersion", "kind", "keystoneURL", "keystoneURLs", "keystoneCACert", "keystoneForceInsecure"} {
		if value, given := fields[name]; given {
			keystone[name] = value
		}
	}
	data, err := json.Marshal(keystone)
	if err != nil {
		return nil, fmt.Errorf("decoding CloudProfileConfig: %w", err)
	}
	return codec.Decode(AddToScheme, &runtime.RawExtension{Raw: data}, &CloudProfileConfig{}, lenient())
}
