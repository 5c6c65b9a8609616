//! A floor for the quality of `graph_query` on the evaluation set, so that no change lowers it unnoticed.

use knowledge::GraphRanking;

use super::set::Set;

#[tokio::test(flavor = "multi_thread")]
async fn questions_find_their_facts_and_walking_helps() {
    let set = Set::load().await;
    let walked = set.figures("tune", 2, GraphRanking::default()).await;
    let found = set.figures("tune", 0, GraphRanking::default()).await;
    assert!(walked["all"].recall_at_10 >= 0.79 && walked["all"].ndcg_at_10 >= 0.63, "{walked:?}");
    assert!(walked["direct"].recall_at_5 >= 0.99, "{walked:?}");
    for kind in ["all", "two_hop"] {
        assert!(walked[kind].recall_at_10 > found[kind].recall_at_10, "{kind}: {walked:?} {found:?}");
    }
}
