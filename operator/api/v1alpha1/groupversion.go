package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion names this API.
var GroupVersion = schema.GroupVersion{Group: "commitlab.dev", Version: "v1alpha1"}

// AddToScheme teaches a scheme the kinds of this package.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &CommitCluster{}, &CommitClusterList{}, &RecoveryTest{}, &RecoveryTestList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
