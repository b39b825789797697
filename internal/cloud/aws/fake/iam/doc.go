// Package iam is the part of IAM that gives instances a role: roles with inline policies, and instance profiles. It must not know HTTP, signatures or
// encodings; see package core. It does not evaluate policies.
package iam
