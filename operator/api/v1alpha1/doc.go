// Package v1alpha1 is the API of commitlab: clusters of commitd servers, and tests of their recovery.
//
// +kubebuilder:object:generate=true
// +groupName=commitlab.dev
package v1alpha1
