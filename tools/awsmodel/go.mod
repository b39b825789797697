module github.com/trellis-garden/trellis/tools/awsmodel

go 1.26.5

require github.com/aws/aws-sdk-go v1.55.8

require github.com/jmespath/go-jmespath v0.4.0 // indirect
