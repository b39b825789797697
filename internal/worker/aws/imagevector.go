package aws

import _ "embed" // for the image vector

//go:embed images.yaml
var imageVector []byte

// ImageVector returns the image of the machine controller, in the format of Gardener's image vectors.
func ImageVector() []byte { return imageVector }
