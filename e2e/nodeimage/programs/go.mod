// Programs of our own in a node, and the one beside Docker that lets nodes start where root has not all rights. Where the module
// kubernetes needs the same modules, they have the same versions here, so that they are compiled only once.
module github.com/trellis-garden/trellis/e2e/nodeimage/programs

go 1.26.5

require github.com/stretchr/testify v1.12.1

require go.yaml.in/yaml/v3 v3.0.5 // indirect
