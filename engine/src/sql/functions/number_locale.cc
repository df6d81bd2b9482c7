#include "sql/functions/number_locale.h"

#include <algorithm>

#include "base/text_case.h"

namespace commitd::sql {
namespace {

struct Named {
  std::string_view names;  // with a blank behind each
  NumberLocale locale;
};

constexpr Named kLocales[] = {
    {"ar_AE ar_BH ar_DZ ar_EG ar_IN ar_IQ ar_JO ar_KW ar_LB ar_LY ar_MA ar_OM ar_QA ar_SD ar_SY ar_TN ar_YE "
     "en_AU en_CA "
     "en_GB en_NZ en_PH en_US en_ZA en_ZW es_DO es_GT es_HN es_MX es_NI es_PA es_PE es_PR es_SV es_US gu_IN "
     "he_IL hi_IN "
     "ja_JP ko_KR ms_MY th_TH ur_PK zh_CN zh_HK zh_TW ",
     {'.', ",", false}},
    {"be_BY da_DK de_BE de_DE de_LU es_AR es_BO es_CL es_CO es_EC es_ES es_PY es_UY es_VE fo_FO hu_HU id_ID "
     "is_IS lt_LT "
     "mn_MN nb_NO no_NO ro_RO ru_UA sq_AL tr_TR uk_UA vi_VN ",
     {',', ".", false}},
    {"ca_ES de_AT el_GR eu_ES fr_BE fr_CA fr_CH fr_FR fr_LU gl_ES hr_HR it_IT nl_BE nl_NL pl_PL pt_BR pt_PT "
     "sl_SI ",
     {',', "", false}},
    {"cs_CZ es_CR et_EE fi_FI lv_LV mk_MK ru_RU sk_SK sv_FI sv_SE ", {',', " ", false}},
    {"ar_SA sr_RS ", {'.', "", false}},
    {"de_CH ", {'.', "'", false}},
    {"it_CH rm_CH ", {',', "'", false}},
    {"en_IN ta_IN te_IN ", {'.', ",", true}},
};

}  // namespace

std::optional<NumberLocale> find_number_locale(std::string_view name) {
  for (const Named& named : kLocales) {
    for (std::string_view rest = named.names; !rest.empty();) {
      const size_t blank = rest.find(' ');
      if (equal_words(rest.substr(0, blank), name)) return named.locale;
      rest.remove_prefix(blank + 1);
    }
  }
  return std::nullopt;
}

}  // namespace commitd::sql
