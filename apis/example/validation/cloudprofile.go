package validation

import (
	"net/url"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/example/v1alpha1"
)

// ValidateCloudProfileConfig validates the configuration of a CloudProfile.
func ValidateCloudProfileConfig(config *v1alpha1.CloudProfileConfig, path *field.Path) field.ErrorList {
	const remedy = "give the address of the cloud's API, like https://cloud.example.org"
	if config.URL == "" {
		return field.ErrorList{field.Required(path.Child("url"), remedy)}
	}
	address, err := url.Parse(config.URL)
	if err != nil || address.Host == "" || address.Scheme != "https" && address.Scheme != "http" {
		return field.ErrorList{field.Invalid(path.Child("url"), config.URL, remedy)}
	}
	return nil
}
