// Package release makes a release of the checkout, and installs it in a seed of its own as an admin does: images and charts are pulled by their digests from
// the registry that they were pushed to. Its tests have the build tag kind.
package release
