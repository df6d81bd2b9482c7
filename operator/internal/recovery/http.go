package recovery

import (
	"encoding/json"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
)

// VerdictPath is where the verdict of a test is served: VerdictPath + NAMESPACE/NAME.
const VerdictPath = "/recoverytests/"

// VerdictHandler answers with the status code alone what a StatusCheck of Chaos Mesh can see, as the ledger does: 200 Passed, 409 Failed,
// 501 Unsupported, 503 Inconclusive or not known yet, 404 no such test.
func VerdictHandler(reader client.Reader) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+VerdictPath+"{namespace}/{name}", func(w http.ResponseWriter, r *http.Request) {
		t := &v1alpha1.RecoveryTest{}
		err := reader.Get(r.Context(), types.NamespacedName{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}, t)
		switch {
		case apierrors.IsNotFound(err):
			http.Error(w, "there is no such RecoveryTest", http.StatusNotFound)
		case err != nil:
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		default:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(statusCode(t.Status.Verdict))
			_ = json.NewEncoder(w).Encode(t.Status)
		}
	})
	return mux
}

func statusCode(v v1alpha1.Verdict) int {
	switch v {
	case v1alpha1.VerdictPassed:
		return http.StatusOK
	case v1alpha1.VerdictFailed:
		return http.StatusConflict
	case v1alpha1.VerdictUnsupported:
		return http.StatusNotImplemented
	}
	return http.StatusServiceUnavailable
}
