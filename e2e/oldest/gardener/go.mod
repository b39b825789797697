// The oldest Gardener whose seeds the controllers run in. Only files of it are read, see ../doc.go: nothing is built, so there are
// no other modules, and "go mod tidy" has no say here.
module github.com/trellis-garden/trellis/e2e/oldest/gardener

go 1.26.5

require github.com/gardener/gardener v1.135.0
