// Package sts is the part of STS that tells a caller who it is, and exchanges web identity tokens for temporary credentials. It must not know HTTP,
// signatures or encodings; see package core. It reads the subject and expiry of a token, and does not verify who signed it.
package sts
