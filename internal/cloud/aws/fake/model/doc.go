// Package model loads the service models of AWS: operations, and the shapes of their requests and responses. The files in data are extracts of AWS' own
// models, see data/NOTICE; tools/awsmodel writes them and lists the operations.
//
// The package reads models only. It must not know how requests and responses are encoded, nor what a service does.
package model

//go:generate go -C ../../../../../tools/awsmodel run . ../../internal/cloud/aws/fake
