package openstack

import _ "embed" // for the image vector

//go:embed images.yaml
var imageVector []byte

// ImageVector returns OpenStack's images, in the format of Gardener's image vectors.
func ImageVector() []byte { return imageVector }
